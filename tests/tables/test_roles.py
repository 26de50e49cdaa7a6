"""Roles of columns: small tables, how each is read, or why it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

import karat as kt
from karat.tables.names import find_phrase, is_rater, role_rank, scale_in_name, split_words
from karat.tables.roles import ROLES


class RoleCase(NamedTuple):
    """A table and parts of its summary, or of the sentence that refuses it."""

    name: str
    table: str
    expected: tuple[str, ...]
    options: Mapping[str, Any] = MappingProxyType({})


READ = [
    RoleCase(
        "answer beside prediction",
        "question,answer,prediction\nq1 a?,gold one,model one\nq2 b?,gold two,model two\n",
        ("candidate=prediction", "reference=answer"),
    ),
    RoleCase(
        "answer beside expected",
        "question,answer,expected\nq1 a?,m one,g one\nq2 b?,m two,g two\n",
        ("candidate=answer", "reference=expected"),
    ),
    RoleCase(
        "german",
        "Nr,Frage,Antwort,Musterlösung\n"
        "1,Was ist das?,Ein Haus,Das ist ein Haus\n"
        "2,Wer ist das?,Der Mann,Das ist der Mann\n",
        ("id=Nr", "candidate=Antwort", "reference=Musterlösung", "question=Frage"),
    ),
    RoleCase(
        "french",
        "id,question,réponse,réponse attendue\n1,Qui ?,moi,lui\n2,Quoi ?,ça,cela\n",
        ("candidate=réponse", "reference=réponse attendue"),
    ),
    RoleCase(
        "spanish",
        "id,pregunta,respuesta,referencia\n1,¿Quién?,yo,él\n2,¿Qué?,eso,esto\n",
        ("candidate=respuesta", "reference=referencia"),
    ),
    RoleCase(
        "text classification",
        "text,label,prediction\n"
        "I love it so much today,pos,pos\n"
        "This is bad for me,neg,pos\n"
        "Quite nice weather here,pos,neg\n",
        ("candidate=prediction", "reference=label", "source=text"),
    ),
    RoleCase(
        "mqm target with system",
        "system,source,target,rater,score\n"
        "A,Hallo Welt da,Hello world there,r1,3\n"
        "B,Hallo Welt da,Hi world here,r1,4\n"
        "A,Guten Tag heute,Good day today,r1,4\n"
        "B,Guten Tag heute,Good morning today,r1,2\n",
        ("candidate=target", "system=system", "judge=rater", "score=score"),
    ),
    RoleCase(
        "hf input target",
        "input,target,prediction\n"
        "Do a thing please now,done thing,done\n"
        "Do b thing please now,done other,nope\n",
        ("question=input", "reference=target", "candidate=prediction"),
    ),
    RoleCase(
        "score as metric",
        "id,response,reference,score\n1,foo bar,foo,3\n2,bar foo,bar,4\n",
        ("scores: score",),
        {"columns": ["metric=score"]},
    ),
    RoleCase(
        "score as rating",
        "id,response,reference,score\n1,foo bar,foo,3\n2,bar foo,bar,4\n",
        ("score=score",),
        {"columns": ["score=score"]},
    ),
    RoleCase(
        "rating",
        "id,response,reference,rating\n1,foo bar,foo,3\n2,bar foo,bar,4\n",
        ("score=rating",),
    ),
    RoleCase(
        "dims x judges suffix",
        "id,system,output,fluency_alice,fluency_bob,adequacy_alice,adequacy_bob\n"
        "1,A,foo bar baz,4,5,3,3\n"
        "1,B,foo bar,1,2,2,2\n"
        "2,A,x y z,4,4,4,5\n"
        "2,B,x y,3,3,2,1\n",
        ("judges alice, bob", "scale of adequacy"),
    ),
    RoleCase(
        "dims x judges paren",
        "id,output,Fluency (Alice),Fluency (Xu),Adequacy (Alice),Adequacy (Xu)\n"
        "1,foo bar baz,4,5,3,3\n"
        "2,x y z,4,4,4,5\n",
        ("judges Alice, Xu",),
    ),
    RoleCase(
        "rater1",
        "item,output,rater1,rater2,rater3\n1,foo bar baz,4,5,3\n2,x y z,4,4,4\n",
        ("judges rater1, rater2, rater3",),
    ),
    RoleCase(
        "Rater 2 spaces",
        "item,output,Rater 1,Rater 2\n1,foo bar baz,4,5\n2,x y z,4,4\n",
        ("judges Rater 1, Rater 2",),
    ),
    RoleCase(
        "score_1",
        "item,output,score_1,score_2,score_3\n1,foo bar baz,4,5,3\n2,x y z,4,4,4\n",
        ("judges score_1, score_2, score_3",),
    ),
    RoleCase(
        "system/judge",
        "segment,bart/alice,bart/bob,t5/alice,t5/bob\n1,4,5,3,3\n2,4,4,2,1\n",
        ("judges alice, bob", "bart/alice"),
    ),
    RoleCase(
        "pattern",
        "item,text,aa_xx,aa_yy,bb_xx,bb_yy\n1,foo bar baz,4,5,1,2\n2,x y z,3,4,3,3\n",
        ("judges aa, bb",),
        {"columns": ["score={judge}_{dimension}"]},
    ),
    RoleCase(
        "measurements",
        "id,response,latency_ms,cost,tokens,temperature,seed\n"
        "1,foo bar baz,120,0.1,5,0.7,42\n"
        "2,x y z,130,0.2,6,0.7,42\n",
        ("scores: latency_ms, cost, tokens", "candidate=response"),
    ),
    RoleCase(
        "metrics",
        "id,response,reference,bleu,chrf,comet\n"
        "1,foo bar baz,foo bar,12.5,44.0,0.8\n"
        "2,x y z,x y,30.2,50.1,0.9\n",
        ("scores: bleu, chrf, comet",),
    ),
    RoleCase(
        "likert words",
        "id,response,helpfulness\n"
        "1,foo bar baz,Strongly agree\n"
        "2,x y z,Disagree\n"
        "3,q w e,Neutral\n",
        ("ratings: helpfulness", "strongly agree = 5"),
    ),
    RoleCase(
        "declared words",
        "id,response,quality\n1,foo bar baz,alpha\n2,x y z,beta\n3,q w e,alpha\n",
        ("beta = 1",),
        {"scale": ["quality=alpha,beta"]},
    ),
    RoleCase(
        "letters",
        "id,response,grade\n1,foo bar baz,A\n2,x y z,B\n3,q w e,A\n",
        ("candidate=response", "not used: grade"),
    ),
    RoleCase(
        "percent",
        "id,response,quality\n1,foo bar baz,85%\n2,x y z,40%\n",
        ("scale 0 to 100",),
    ),
    RoleCase(
        "missing marks",
        "id,response,alice,bob\n1,foo bar baz,4,N/A\n2,x y z,-,3\n",
        ("judges alice, bob",),
    ),
    RoleCase(
        "id missing values",
        "id,response,reference\n1,foo bar baz,foo\n,x y z,x\n",
        ("candidate=response",),
    ),
    RoleCase(
        "leading zeros",
        "id,response,reference\n001,foo bar baz,foo\n002,x y z,x\n",
        ("id=id",),
    ),
    RoleCase(
        "constant id",
        "id,response,reference\n1,foo bar baz,foo\n1,x y z,x\n",
        ("candidate=response",),
    ),
    RoleCase(
        "dup balanced",
        "id,response,reference\n1,foo bar baz,foo\n1,x y z,foo\n2,a b c,b\n2,a b d,b\n",
        ("id=id",),
    ),
    RoleCase(
        "row ids per system",
        "id,system,question,response\n"
        "1,A,What is it?,foo bar baz\n"
        "2,B,What is it?,x y z\n"
        "3,A,Who is it?,a b c\n"
        "4,B,Who is it?,d e f\n",
        ("question=question", "system=system"),
    ),
    RoleCase(
        "no id several systems question",
        "system,question,response\n"
        "A,What is it?,foo bar baz\n"
        "B,What is it?,x y z\n"
        "A,Who is it?,a b c\n"
        "B,Who is it?,d e f\n",
        ("question=question",),
    ),
    RoleCase(
        "wide systems names unknown",
        "source,reference,v1,v2\n"
        "Der Hund schläft im Haus,The dog sleeps in the house,The "
        "dog is sleeping in the house,A dog sleeps in the house\n"
        "Die Katze trinkt die Milch,The cat drinks the milk,The cat "
        "is drinking milk,The cat drinks milk\n"
        "Das Auto ist rot,The car is red,The car is red,The auto is red\n"
        "Ich gehe heute nach Hause,I go home today,I am going home today,I go to house today\n",
        ("systems side by side: v1, v2",),
    ),
    RoleCase(
        "wide systems answer_x",
        "question,reference,answer_gpt4,answer_llama\n"
        "What is it?,foo bar,foo bar baz,foo baz\n"
        "Who is it?,me you,me and you,you\n",
        ("systems side by side: gpt4, llama",),
    ),
    RoleCase(
        "question answer gpt4 llama",
        "question,answer,gpt4,llama\n"
        "What is it?,foo bar,foo bar baz,foo baz\n"
        "Who is it?,me you,me and you,you\n",
        ("systems side by side: gpt4, llama", "reference=answer"),
    ),
    RoleCase(
        "response a b",
        "question,response_a,response_b\n"
        "What is it?,foo bar,foo bar baz\n"
        "Who is it?,me you,me and you\n",
        ("systems side by side: a, b",),
    ),
    RoleCase(
        "references numbered",
        "id,mt,ref1,ref2\n1,foo bar,foo,bar foo\n2,x y,x,y x\n",
        ("reference=ref1, reference=ref2",),
    ),
    RoleCase(
        "judge model",
        "id,model,response,judge_model,rating\n"
        "1,A,foo bar,gpt-4o,3\n"
        "1,B,bar,gpt-4o,4\n"
        "2,A,x y,gpt-4o,2\n"
        "2,B,x,gpt-4o,5\n",
        ("judge=judge_model", "system=model"),
    ),
    RoleCase(
        "tidy german",
        "System,Satz,Bewerter,Kriterium,Note\n"
        "A,1,Anna,Flüssigkeit,4\n"
        "A,1,Bernd,Flüssigkeit,5\n"
        "A,2,Anna,Flüssigkeit,3\n"
        "A,2,Bernd,Flüssigkeit,2\n",
        ("judge=Bewerter", "dimension=Kriterium", "score=Note"),
    ),
    RoleCase(
        "doc and seg",
        "doc,seg,system,text,rating\n"
        "d1,1,A,foo bar,3\n"
        "d1,2,A,foo baz,4\n"
        "d2,1,A,x y,3\n"
        "d2,2,A,x z,1\n",
        ("id=seg", "unit=doc"),
    ),
    RoleCase(
        "long ratings text",
        "model,item,text,rater,fluency,adequacy\n"
        "A,1,foo bar baz,r1,3,4\n"
        "A,1,foo bar baz,r2,4,4\n"
        "B,1,foo baz,r1,1,2\n"
        "B,1,foo baz,r2,2,2\n",
        ("judge=rater", "ratings: fluency, adequacy"),
    ),
    RoleCase(
        "dims whole",
        "id,response,coherence,fluency\n1,foo bar baz,4,3\n2,x y z,5,2\n",
        ("ratings: coherence, fluency",),
    ),
    RoleCase(
        "alice bob mean",
        "id,response,alice,bob,mean\n1,foo bar baz,4,3,3.5\n2,x y z,5,2,3.5\n3,q w,1,2,1.5\n",
        ("judges alice, bob",),
    ),
    RoleCase(
        "no texts wide judges",
        "item,model,alice,bob\n1,A,4,3\n2,A,2,2\n1,B,5,5\n2,B,1,1\n",
        ("judges alice, bob",),
    ),
    RoleCase(
        "comment columns",
        "id,response,alice,comment,notes\n"
        "1,foo bar baz,4,good one I think,x\n"
        "2,x y z,5,bad one I think,y\n",
        ("judge alice", "not used"),
    ),
    RoleCase(
        "summarization",
        "article,summary,reference\n"
        "long article text about dogs and cats,dogs cats,dogs and cats\n"
        "other long article text about cars,cars,about cars\n",
        ("source=article", "candidate=summary", "reference=reference"),
    ),
    RoleCase(
        "cnn",
        "article,highlights,generated_summary\n"
        "long article text about dogs and cats,dogs cats,dogs and cats\n"
        "other long article text about cars,cars,about cars\n",
        ("reference=highlights", "candidate=generated_summary"),
    ),
    RoleCase(
        "single text col",
        "text\nfoo bar baz qux\nx y z w\n",
        ("candidate=text",),
    ),
    RoleCase(
        "scale in name",
        "id,response,fluency (1-7),adequacy [0-100]\n1,foo bar baz,4,50\n2,x y z,5,20\n",
        ("1 to 7", "0 to 100"),
    ),
    RoleCase(
        "stars",
        "id,response,rating\n1,foo bar baz,★★★☆☆\n2,x y z,★★★★★\n",
        ("scale 1 to 5",),
    ),
    RoleCase(
        "choice texts",
        "id,response,rating\n1,foo bar baz,4 - good\n2,x y z,1 - bad\n3,x y,4 - good\n4,x y a,5\n",
        ("scale 1 to 5",),
    ),
    RoleCase(
        "yes no",
        "id,response,correct_alice,correct_bob\n1,foo bar baz,yes,no\n2,x y z,yes,yes\n",
        ("judges alice, bob", "scale 0 to 1"),
    ),
    RoleCase(
        "winner column",
        "question,response_a,response_b,winner\n"
        "What is it?,foo bar,foo bar baz,a\n"
        "Who is it?,me you,me and you,b\n",
        ("systems side by side: a, b",),
    ),
    RoleCase(
        "tidy metrics",
        "system,segment,metric,score\nA,1,bleu,12\nA,2,bleu,13\nB,1,bleu,22\nB,2,bleu,23\n",
        ("dimension=metric",),
    ),
    RoleCase(
        "epochs",
        "id,epoch,response,target\n1,1,foo,foo\n1,2,bar,foo\n2,1,baz,baz\n2,2,q,baz\n",
        ("epoch=epoch",),
    ),
    RoleCase(
        "prompt versions",
        "question,expected,v1 answer,v2 answer\n"
        "What is it?,foo bar,foo bar baz,foo baz\n"
        "Who is it?,me you,me and you,you\n",
        ("systems side by side: v1, v2", "reference=expected"),
    ),
    RoleCase(
        "unnamed index",
        ",response,reference\n0,foo bar baz,foo\n1,x y z,x\n",
        ("candidate=response",),
    ),
    RoleCase(
        "numeric answers",
        "id,question,prediction,answer\n1,How many?,42,42\n2,How few?,3,4\n",
        ("candidate=prediction", "reference=answer"),
    ),
    RoleCase(
        "wide ratings beside wide systems",
        "source,bart,t5,bart_fluency,t5_fluency\n"
        "Der Hund schläft im Haus,The dog sleeps in house,A dog sleeps in the house,4,5\n"
        "Die Katze trinkt Milch,The cat drinks milk,Cat drinks milk,3,3\n",
        ("systems side by side: bart, t5", "bart_fluency"),
    ),
    RoleCase(
        "judge constant email",
        "id,output,email,quality\n1,foo bar baz,a@b.c,4\n2,x y z,a@b.c,3\n",
        ("judge=email",),
    ),
    RoleCase(
        "chat log user",
        "user,assistant,latency\n"
        "How do I reset my password?,Click on reset now,0.4\n"
        "Where is my order?,It is on its way,0.5\n",
        ("candidate=assistant", "question=user"),
    ),
    RoleCase(
        "rank columns",
        "id,output,rank\n1,foo bar baz,1\n2,x y z,2\n",
        ("candidate=output",),
    ),
    RoleCase(
        "prompt+question both",
        "question,prompt,response\n"
        "What is it?,Answer: What is it?,foo bar\n"
        "Who is it?,Answer: Who is it?,bar baz\n",
        ("candidate=response", "question=question"),
    ),
    RoleCase(
        "two systems file v. question text only",
        "prompt,gpt-4o,claude-3\n"
        "Write a poem about rain,Rain falls softly on the roof,The rain in Spain\n"
        "Write a joke,A man walks into a bar,Why did the chicken\n",
        ("systems side by side: gpt-4o, claude-3",),
    ),
    RoleCase(
        "A1 A2",
        "id,text,A1,A2\n1,foo bar baz,4,3\n2,x y z,2,3\n",
        ("judges A1, A2",),
    ),
    RoleCase(
        "annotator id numeric",
        "id,text,annotator_id,rating\n"
        "1,foo bar baz,17,3\n"
        "1,foo bar baz,18,4\n"
        "2,x y z,17,3\n"
        "2,x y z,18,1\n",
        ("judge=annotator_id", "score=rating", "candidate=text"),
    ),
    RoleCase(
        "fluency + annotator col + two systems",
        "segment_id,system,annotator,translation,source,fluency,adequacy\n"
        "1,A,r1,foo bar,quelle eins,3,4\n"
        "1,B,r1,foo,quelle eins,2,2\n"
        "2,A,r1,x y,quelle zwei,4,4\n"
        "2,B,r1,x,quelle zwei,1,1\n",
        ("candidate=translation", "source=source", "id=segment_id"),
    ),
    RoleCase(
        "avg column",
        "id,text,alice,bob,average\n1,foo bar baz,4,3,3.5\n2,x y z,2,3,2.5\n",
        ("judges alice, bob;", "not used: average"),
    ),
    RoleCase(
        "category shouldn't group",
        "id,question,response,category\n"
        "1,Who is it?,foo bar,a\n"
        "2,Where is it?,bar foo,b\n"
        "3,When is it?,x y,a\n"
        "4,Why is it?,z w,b\n",
        ("not used: category",),
    ),
    RoleCase(
        "topic",
        "id,topic,response\n1,a,foo bar\n2,a,bar foo\n3,b,x y\n4,b,z w\n",
        ("not used: topic",),
    ),
    RoleCase(
        "doc unit",
        "id,doc,response\n1,d1,foo bar\n2,d1,bar foo\n3,d2,x y\n4,d2,z w\n",
        ("unit=doc",),
    ),
    RoleCase(
        "system constant",
        "id,model,response\n1,gpt,foo bar\n2,gpt,bar foo\n",
        ("system=model",),
    ),
    RoleCase(
        "score with judge model col",
        "id,response,reference,judge,score\n1,foo bar,foo,gpt-4,3\n2,bar foo,bar,gpt-4,4\n",
        ("judge=judge", "score=score", "taken to be models"),
    ),
    RoleCase(
        "thumbs",
        "id,response,feedback\n1,foo bar baz,👍\n2,x y z,👎\n3,w,👍\n",
        ("candidate=response",),
    ),
    RoleCase(
        "1-5 in question",
        "id,response,How helpful is the answer? (1-5)\n1,foo bar baz,4\n2,x y z,2\n",
        ("scale 1 to 5",),
    ),
    RoleCase(
        "wer lower metrics only",
        "system,segment,wer\nA,1,0.3\nB,1,0.2\nA,2,0.5\nB,2,0.1\n",
        ("scores: wer",),
    ),
    RoleCase(
        "id per doc restart",
        "document,sentence,system,translation,reference\n"
        "d1,1,A,foo bar,foo\n"
        "d1,2,A,x y,x\n"
        "d2,1,A,q r,q\n"
        "d2,2,A,z,z\n"
        "d1,1,B,foo,foo\n"
        "d1,2,B,x,x\n"
        "d2,1,B,q,q\n"
        "d2,2,B,z z,z\n",
        ("id=sentence", "unit=document"),
    ),
    RoleCase(
        "question id and id rows",
        "id,question_id,model,answer,ground_truth\n"
        "1,q1,A,foo,foo x\n"
        "2,q1,B,bar,foo x\n"
        "3,q2,A,baz,baz x\n"
        "4,q2,B,qux,baz x\n",
        ("id=question_id", "candidate=answer", "reference=ground_truth", "not used: id"),
    ),
    RoleCase(
        "ratings minority missing raters",
        "id,text,alice,bob\n1,foo bar baz,4,\n2,x y z,,3\n3,q w,2,2\n",
        ("judges alice, bob",),
    ),
    RoleCase(
        "semicolon decimal",
        "id;text;alice;bob\n1;foo bar baz;3,5;4,0\n2;x y z;2,5;3,0\n",
        ("judges alice, bob",),
    ),
    RoleCase(
        "human vs auto scores",
        "id,response,reference,human_score,bleu\n1,foo bar,foo,3,12\n2,bar foo,bar,4,30\n",
        ("score=human_score", "scores: bleu"),
    ),
    RoleCase(
        "output + expected_output + passed",
        "id,input,output,expected_output,passed\n"
        "1,What is it?,foo bar,foo,True\n"
        "2,Who is it?,bar foo,bar,False\n",
        ("candidate=output", "reference=expected_output", "question=input"),
    ),
    RoleCase(
        "translation mt pe",
        "src,mt,pe,hter\n"
        "Hallo Welt du,Hello World,Hello world,0.2\n"
        "Guten Tag dir,Good Day,Good day,0.1\n",
        ("source=src", "candidate=mt", "reference=pe", "scores: hter"),
    ),
    RoleCase(
        "translations ref by human translator",
        "source,human translation,machine translation\n"
        "Hallo Welt du,Hello world,Hello World\n"
        "Guten Tag dir,Good day,Good Day\n",
        ("reference=human translation", "candidate=machine translation"),
    ),
    RoleCase(
        "system columns w/ ratings names",
        "item,bart,pegasus,t5\n1,4,5,3\n2,3,4,2\n",
        ("bart",),
    ),
    RoleCase(
        "time column numeric",
        "id,text,time,rating\n1,foo bar baz,12,4\n2,x y z,13,3\n",
        ("score=rating", "scores: time"),
    ),
    RoleCase(
        "sentences id",
        "Satz-Nr,System,Übersetzung,Referenz,Bewertung\n"
        "1,A,das ist gut,das ist fein,4\n"
        "2,A,das war gut,das war fein,3\n"
        "1,B,dies ist gut,das ist fein,2\n"
        "2,B,dies war gut,das war fein,5\n",
        (
            "id=Satz-Nr",
            "system=System",
            "candidate=Übersetzung",
            "reference=Referenz",
            "score=Bewertung",
        ),
    ),
    RoleCase(
        "likert numeric text mix",
        "id,text,quality\n1,foo bar baz,5 (excellent)\n2,x y z,1 (poor)\n3,q w e,5 (excellent)\n",
        ("scale 1 to 5",),
    ),
    RoleCase(
        "context + answer RAG",
        "question,context,answer\n"
        "What is it?,It is a long passage of text about it,foo bar\n"
        "Who is it?,Another passage of text with a name,bar\n",
        ("candidate=answer", "contexts=context"),
    ),
    RoleCase(
        "chosen option",
        "id,text,preferred\n1,foo bar baz,A\n2,x y z,B\n",
        ("candidate=text",),
    ),
    RoleCase(
        "worker + email",
        "id,output,worker_id,email,quality\n"
        "1,foo bar baz,w1,a@b.c,4\n"
        "1,foo bar baz,w2,c@b.c,3\n"
        "2,x y,w1,a@b.c,3\n"
        "2,x y,w2,c@b.c,1\n",
        ("judge=worker_id",),
    ),
    RoleCase(
        "old vs new",
        "question,old,new\n"
        "What is the capital of France now?,Paris is the capital of "
        "France,The capital of France is Paris\n"
        "Who wrote the book called Faust?,Goethe wrote the book "
        "Faust,Faust was written by Goethe\n"
        "How many legs has a spider in total?,A spider has eight "
        "legs,Eight legs in total for a spider\n"
        "When did the second war end?,The war ended in 1945,It ended in 1945 the war\n",
        ("systems side by side: old, new",),
    ),
    RoleCase(
        "empty reference column",
        "id,response,reference\n1,foo bar,\n2,bar foo,\n",
        ("candidate=response",),
    ),
    RoleCase(
        "comet_score",
        "src,hyp,ref,comet_score\n"
        "Hallo Welt du,Hello World,Hello world,0.2\n"
        "Guten Tag dir,Good Day,Good day,0.1\n",
        ("scores: comet_score",),
    ),
    RoleCase(
        "gpt4 score judge",
        "id,response,gpt4_score\n1,foo bar,4\n2,bar foo,3\n",
        ("scores: gpt4_score",),
    ),
    RoleCase(
        "model scores",
        "id,response,human_score,gpt4_score\n1,foo bar,4,4\n2,bar foo,3,4\n",
        ("human_score",),
    ),
    RoleCase(
        "quality by annotator num",
        "id,system,output,quality_1,quality_2\n1,A,foo bar,4,5\n2,A,bar,3,3\n",
        ("judges 1, 2",),
    ),
    RoleCase(
        "annotator_1_quality",
        "id,system,output,annotator_1_quality,annotator_2_quality\n1,A,foo bar,4,5\n2,A,bar,3,3\n",
        ("judges annotator_1, annotator_2",),
    ),
    RoleCase(
        "three way",
        "item,bart_alice_fluency,bart_bob_fluency,t5_alice_fluency,t5_bob_fluency\n"
        "1,4,5,3,3\n"
        "2,4,4,2,1\n",
        ("judges alice, bob",),
    ),
    RoleCase(
        "sys a b with ratings a b",
        "question,answer_a,answer_b,rating_a,rating_b\n"
        "What is it?,foo bar,bar baz,4,3\n"
        "Who is it?,x y,y z,2,5\n",
        ("systems side by side: a, b", "rating_a"),
    ),
    RoleCase(
        "reference numeric label",
        "id,text,prediction,label\n"
        "1,I love this so much,1,1\n"
        "2,I hate this so much,0,1\n"
        "3,meh it is ok I guess,0,0\n",
        ("candidate=prediction", "reference=label"),
    ),
    RoleCase(
        "idx col plus doc_id",
        "doc_id,idx,source,mt,ref\n"
        "d1,0,Hallo Welt du,Hello World,Hello world\n"
        "d1,1,Guten Tag dir,Good Day,Good day\n"
        "d2,2,Ja,Yes,Yes\n",
        ("id=idx", "unit=doc_id"),
    ),
    RoleCase(
        "system out of text cols",
        "id,src,Google,DeepL,Reference\n"
        "1,Hallo Welt du,Hello World,Hello you world,Hello world\n"
        "2,Guten Tag dir,Good Day,Good day you,Good day\n",
        ("systems side by side: Google, DeepL", "reference=Reference"),
    ),
    RoleCase(
        "german ratings",
        "Beispiel,Antwort,Bewerter 1,Bewerter 2\n1,das ist gut so,4,5\n2,das ist schlecht so,1,2\n",
        ("judges Bewerter 1, Bewerter 2", "candidate=Antwort"),
    ),
    RoleCase(
        "german likert",
        "Beispiel,Antwort,Hilfreich\n"
        "1,das ist gut so,stimme zu\n"
        "2,das ist schlecht so,stimme gar nicht zu\n"
        "3,na ja so,teils/teils\n",
        ("ratings: Hilfreich",),
    ),
    RoleCase(
        "french ratings",
        "id,réponse,Note (1-5)\n1,c'est bien,4\n2,c'est mal,2\n",
        ("score=Note (1-5)", "scale 1 to 5"),
    ),
    RoleCase(
        "spanish tidy",
        "sistema,segmento,evaluador,criterio,puntuación\n"
        "A,1,Ana,fluidez,4\n"
        "A,2,Ana,fluidez,3\n"
        "A,1,Luis,fluidez,5\n"
        "A,2,Luis,fluidez,2\n",
        ("judge=evaluador", "dimension=criterio"),
    ),
    RoleCase(
        "conversation unit",
        "conversation_id,turn,user,assistant\n"
        "c1,1,Hello there you,Hi how are you\n"
        "c1,2,Fine thanks to you,Good to hear\n"
        "c2,1,Hey you over there,Hi\n"
        "c2,2,Bye bye now,See you\n",
        ("candidate=assistant",),
    ),
    RoleCase(
        "trial col but ids unique",
        "id,trial,response\n1,1,foo bar\n2,1,bar\n3,2,x\n",
        ("candidate=response",),
    ),
    RoleCase(
        "run column",
        "run,qid,answer\nA,1,foo bar\nA,2,bar baz\nB,1,x y\nB,2,y z\n",
        ("system=run", "id=qid", "candidate=answer"),
    ),
    RoleCase(
        "version",
        "version,question,response\n"
        "v1,What is it?,foo bar\n"
        "v2,What is it?,bar baz\n"
        "v1,Who is it?,x\n"
        "v2,Who is it?,y\n",
        ("system=version",),
    ),
    RoleCase(
        "expected equals numeric",
        "input,output,expected\n2+2,4,4\n3+3,7,6\n",
        ("candidate=output", "reference=expected", "question=input"),
    ),
    RoleCase(
        "bool rating",
        "id,response,alice,bob\n1,foo bar,True,False\n2,bar baz,True,True\n",
        ("judges alice, bob",),
    ),
    RoleCase(
        "only numeric metrics with text",
        "id,hypothesis,reference,f1,em\n1,foo bar,foo,0.5,0\n2,bar foo,bar,0.5,1\n",
        ("scores: f1, em",),
    ),
]
"""Tables that have one reading."""

REFUSED = [
    RoleCase(
        "input target only",
        "input,target\nDo a thing please now,done thing\nDo b thing please now,done other\n",
        ("candidate or the reference",),
    ),
    RoleCase(
        "score ambiguous",
        "id,response,reference,score\n1,foo bar,foo,3\n2,bar foo,bar,4\n",
        ("people or scores by a program",),
    ),
    RoleCase(
        "unknown wide numbers",
        "item,text,foo,bar\n1,foo bar baz,4,5\n2,x y z,3,4\n",
        ("judges or dimensions",),
    ),
    RoleCase(
        "unknown product",
        "item,text,aa_xx,aa_yy,bb_xx,bb_yy\n1,foo bar baz,4,5,1,2\n2,x y z,3,4,3,3\n",
        ("{judge}_{dimension}",),
    ),
    RoleCase(
        "unknown words",
        "id,response,quality\n1,foo bar baz,alpha\n2,x y z,beta\n3,q w e,alpha\n",
        ("order is not known",),
    ),
    RoleCase(
        "bad number",
        "id,response,alice,bob\n1,foo bar baz,4,4\n2,x y z,foo,3\n3,x y,4,4\n",
        ("line 3",),
    ),
    RoleCase(
        "dup unbalanced",
        "id,response,reference\n1,foo bar baz,foo\n1,x y z,foo\n2,a b c,b\n",
        ("line 3",),
    ),
    RoleCase(
        "different refs",
        "id,system,response,reference\n1,A,foo bar baz,foo\n1,B,x y z,bar\n2,A,a b c,b\n2,B,q,b\n",
        ("differs",),
    ),
    RoleCase(
        "no id several systems nothing",
        "system,response\nA,foo bar baz\nB,x y z\nA,a b c\nB,d e f\n",
        ("no id",),
    ),
    RoleCase(
        "response_1 response_2",
        "question,response_1,response_2\n"
        "What is it?,foo bar,foo bar baz\n"
        "Who is it?,me you,me and you\n",
        ("repeated",),
    ),
    RoleCase(
        "two candidates",
        "id,response,output,reference\n1,foo bar,foo,bar foo\n2,x y,x,y x\n",
        ("may both be the candidate",),
    ),
    RoleCase(
        "two references",
        "id,response,reference,gold\n1,foo bar,foo,bar foo\n2,x y,x,y x\n",
        ("may both be the reference",),
    ),
    RoleCase(
        "human column",
        "question,human,gpt4\nWhat is it?,foo bar,foo bar baz\nWho is it?,me you,me and you\n",
        ("reference or a system",),
    ),
    RoleCase(
        "languages",
        "en,de\n"
        "The dog sleeps now,Der Hund schläft jetzt\n"
        "The cat drinks milk,Die Katze trinkt Milch\n",
        ("languages",),
        {"header": "1"},
    ),
    RoleCase(
        "fraction dims",
        "id,response,coherence,fluency\n1,foo bar baz,0.83,0.7\n2,x y z,0.5,0.91\n",
        ("people or scores",),
    ),
    RoleCase(
        "lower",
        "id,response,errors,alice\n1,foo bar baz,4,3\n2,x y z,5,2\n",
        ("",),
    ),
    RoleCase(
        "model col long text",
        "question,model,human\n"
        "What is it?,this is a long model answer,this is a long human answer\n"
        "Who is it?,that is another model answer here,that is another human answer\n",
        ("",),
    ),
    RoleCase(
        "systems numeric answers",
        "id,question,answer,gpt4,llama\n"
        "1,How many?,42,42,41\n"
        "2,How few?,3,4,3\n"
        "3,How far?,100,100,99\n",
        ("",),
    ),
    RoleCase(
        "wide ratings no system",
        "source,bart,t5,alice,bob\n"
        "Der Hund schläft im Haus,The dog sleeps in house,A dog sleeps in the house,4,5\n"
        "Die Katze trinkt Milch,The cat drinks milk,Cat drinks milk,3,3\n",
        ("systems",),
    ),
    RoleCase(
        "rater letters",
        "id,text,A,B,C\n1,foo bar baz,4,3,4\n2,x y z,2,3,1\n",
        ("judges or dimensions",),
    ),
    RoleCase(
        "text label only",
        "text,label\nI love it so much,pos\nI hate it so much,neg\nit is fine I guess,pos\n",
        ("t.csv",),
    ),
    RoleCase(
        "system missing cell",
        "id,model,response\n1,gpt,foo bar\n2,,bar foo\n3,gpt,z\n",
        ("t.csv",),
    ),
    RoleCase(
        "model and prompt version",
        "id,model,prompt_version,response\n1,a,v1,foo bar\n1,a,v2,bar foo\n1,b,v1,x y\n1,b,v2,y\n",
        ("may both be the system",),
    ),
    RoleCase(
        "label ratings",
        "id,response,label\n"
        "1,foo bar baz qux quux,good\n"
        "2,x y z and some more words,bad\n"
        "3,another longer response here,good\n",
        ("rating or the reference",),
    ),
    RoleCase(
        "verdict words",
        "id,response,verdict\n1,foo bar baz,correct\n2,x y z,incorrect\n3,w u,partially correct\n",
        ("people or scores",),
    ),
    RoleCase(
        "email rows google",
        "Timestamp,Email Address,How would you rate the fluency?,How "
        "would you rate the accuracy?\n"
        "2026,a@b.c,4,5\n"
        "2026,d@e.f,3,2\n",
        ("t.csv",),
    ),
    RoleCase(
        "percent correct col",
        "id,response,accuracy\n1,foo bar baz,0.85\n2,x y z,0.4\n",
        ("people",),
    ),
    RoleCase(
        "numbered respondents wide transposed",
        "rater,item1,item2,item3\nr1,4,5,3\nr2,3,4,2\n",
        ("t.csv",),
    ),
    RoleCase(
        "duplicate header",
        "id,response,score,score\n1,foo bar,3,4\n2,bar foo,4,5\n",
        ("t.csv",),
    ),
    RoleCase(
        "same rater twice",
        "id,output,rater,quality\n1,foo bar baz,r1,4\n1,foo bar baz,r1,3\n2,x y,r1,2\n",
        ("t.csv",),
    ),
    RoleCase(
        "unrelated texts",
        "question,topic description,author bio\n"
        "What is the capital of France now?,geography of western "
        "europe today,born in the north and lives there\n"
        "Who wrote the book called Faust?,german literature of the "
        "classics,likes sailing boats with two masts\n"
        "How many legs has a spider in total?,zoology of small "
        "animals outdoors,studied chemistry in a small town\n"
        "When did the second war end?,history of the last century "
        "mostly,works for the national museum now\n",
        ("t.csv",),
    ),
    RoleCase(
        "wide with pref",
        "prompt,response_a,response_b,preference\n"
        "What is it?,foo bar,bar baz,1\n"
        "Who is it?,x y,y z,2\n",
        ("which part of the name",),
    ),
    RoleCase(
        "answer correctness 0/1",
        "id,question,answer,correct\n1,What is it?,foo bar,1\n2,Who is it?,bar baz,0\n",
        ("t.csv",),
    ),
    RoleCase(
        "paper title",
        "title,abstract,summary\n"
        "On dogs and cats,We study dogs and cats in depth here,dogs cats\n"
        "On cars,We study cars in depth and more,cars\n",
        ("t.csv",),
    ),
    RoleCase(
        "prompt strategies",
        "recipe,question,response\n"
        "zero-shot,What is it?,foo bar\n"
        "few-shot,What is it?,bar baz\n"
        "zero-shot,Who is it?,x\n"
        "few-shot,Who is it?,y\n",
        ("may be the system",),
    ),
    RoleCase(
        "label studio-like choices",
        "text,sentiment,annotator\nI love it so much,Positive,1\nI hate it so much,Negative,2\n",
        ("t.csv",),
    ),
]
"""Tables that have several readings, or none."""


def read(case: RoleCase, folder: Path) -> kt.EvalSet:
    file = folder / "t.csv"
    file.write_text(case.table, encoding="utf-8")
    return kt.read_outputs(file, **case.options)


@pytest.mark.parametrize("case", READ, ids=lambda case: case.name)
def test_the_table_is_read(case: RoleCase, tmp_path: Path) -> None:
    summary = " ".join(read(case, tmp_path).remarks)
    assert [part for part in case.expected if part not in summary] == [], summary


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_the_table_is_refused(case: RoleCase, tmp_path: Path) -> None:
    with pytest.raises(kt.InputError) as refusal:
        read(case, tmp_path)
    sentence = str(refusal.value)
    assert [part for part in case.expected if part not in sentence] == [], sentence


SETTLED = [
    ("en,de\nThe dog sleeps,Der Hund schläft\n", ["source=en", "candidate=de"]),
    ("id,response,reference,score\n1,a b,a,3\n2,b a,b,4\n", ["score=score"]),
    ("id,response,reference,score\n1,a b,a,3\n2,b a,b,4\n", ["metric=score"]),
    ("q,response_1,response_2\nq1,a b,b\nq2,c,d\n", ["candidate=response_1,response_2"]),
    ("q,response_1,response_2\nq1,a b,b\nq2,c,d\n", ["system=response_1,response_2"]),
    ("item,text,foo,bar\n1,a b c,4,5\n2,x y z,3,4\n", ["judge=foo,bar"]),
    ("item,text,foo,bar\n1,a b c,4,5\n2,x y z,3,4\n", ["dimension=foo,bar"]),
    ("item,text,foo,bar\n1,a b c,4,5\n2,x y z,3,4\n", ["metric=foo,bar"]),
    ("id,response,output\n1,a b,a\n2,b a,b\n", ["candidate=output"]),
    ("id,response,r1,r2\n1,a b,a,b\n2,b a,b,c\n", ["reference=r1,r2"]),
]


@pytest.mark.parametrize(("table", "columns"), SETTLED)
def test_the_option_in_a_refusal_settles_it(table: str, columns: list[str], tmp_path: Path) -> None:
    case = RoleCase("", table, (), {"columns": columns, "header": 1})
    assert read(case, tmp_path).segments


def test_judges_or_dimensions(tmp_path: Path) -> None:
    table = "item,text,foo,bar\n1,a b c,4,5\n2,x y z,3,4\n"
    judges = read(RoleCase("", table, (), {"columns": ["judge=foo,bar"]}), tmp_path)
    dimensions = read(RoleCase("", table, (), {"columns": ["dimension=foo,bar"]}), tmp_path)
    assert judges.judgements.judges == ("foo", "bar")
    assert [*judges.dimensions] == ["score"]
    assert [*dimensions.dimensions] == ["foo", "bar"]
    assert dimensions.judgements.judges == ("raters",)


def test_columns_that_do_not_exist_or_have_two_roles(tmp_path: Path) -> None:
    table = "id,response\n1,a b\n"
    for columns, problem in (
        (["candidate=respnse"], r"no column 'respnse'; did you mean response\?"),
        (["candidte=response"], r"no role 'candidte'; did you mean candidate\?"),
        (["candidate=response", "id=response"], "'response' has the roles candidate and id"),
        (["id=id,response"], "found 2 columns, expected one"),
    ):
        with pytest.raises(kt.InputError, match=problem):
            read(RoleCase("", table, (), {"columns": columns}), tmp_path)


def test_names_of_roles() -> None:
    for name in ("Ground Truth", "ground_truth", "groundTruth", "GROUND-TRUTH"):
        assert role_rank("reference", name) is not None
    assert role_rank("reference", "expected.answer") is not None
    assert role_rank("candidate", "response.text") is not None
    assert role_rank("candidate", "expected.answer") is None
    assert role_rank("reference", "Musterlösung") is not None
    assert role_rank("candidate", "reference") is None
    assert "candidate" in ROLES


def test_words_of_names() -> None:
    assert split_words("fluencyAlice") == ("fluency", "Alice")
    assert split_words("gpt-4o-mini_answer") == ("gpt", "4o", "mini", "answer")
    assert split_words("reference2") == ("reference", "2")
    phrase = find_phrase("gpt-4o-mini_answer", ["either"])
    assert phrase is not None
    assert phrase.rest == "gpt-4o-mini"
    assert [scale_in_name(n)[1:] for n in ("Fluency (1-5)", "tone [0 – 100]", "f (x)")] == [
        (1.0, 5.0),
        (0.0, 100.0),
        (None, None),
    ]
    assert [
        n for n in ("rater1", "Annotator B", "A2", "Alice", "fluency", "bleu4") if is_rater(n)
    ] == [
        "rater1",
        "Annotator B",
        "A2",
        "Alice",
    ]
