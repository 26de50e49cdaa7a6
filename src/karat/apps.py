"""Entries that the apps add to registries of the core, by kind and name.

The core does not import apps: it loads these entries on first use.
"""

DECLARED = {
    "commands": {
        "nuggets": ("karat.nuggets.cli.group", "Score answers by the nuggets they contain."),
        "judge": ("karat.llm.cli:judge", "Let a language model judge outputs."),
        "lm": ("karat.lm.cli", "Train n-gram language models and score text with them."),
        "paraphrase": ("karat.paraphrase.cli.group", "Score and generate paraphrases."),
        "realize": ("karat.realize.cli", "Turn unordered dependency trees into sentences."),
        "studio": ("karat.studio.cli:studio", "Judge outputs in the browser."),
        "studio export": ("karat.studio.cli:export", "Export the judgements of a studio."),
        "studio owner": ("karat.studio.cli:owner", "Print a new owner's link of a studio."),
        "studio import": ("karat.studio.cli:import_log", "Make a studio's store from its log."),
    },
    "kinds": {
        "classifiers": "karat.nuggets.prediction.predictions:classifiers",
        "nugget_formats": "karat.nuggets.formats.loading:FORMATS",
    },
    "formats": {"studio": "karat.studio.formats:RATED"},
    "nugget_formats": {"studio": "karat.studio.formats:NUGGETS"},
    "engines": {
        "dask": "karat.scale.dask_engine:Dask",
        "spark": "karat.scale.spark_engine:Spark",
        "ray": "karat.scale.ray_engine:Ray",
    },
    "metrics": {
        "pem": "karat.paraphrase.pem.metrics:PEMMetric",
        "pivot_f1": "karat.paraphrase.pem.metrics:PivotF1",
    },
    "reproductions": {
        "fergus": "karat.realize.reproduction:reproduce_fergus",
        "pem": "karat.paraphrase.reproduction:reproduce_pem",
        "nuggeteer": "karat.nuggets.reproduction:reproduce_nuggeteer",
    },
    "sources": {"nuggets": "karat.nuggets.source:NUGGETS"},
    "set_kinds": {"NuggetSet": "karat.nuggets.source:NUGGET_KIND"},
    "documents": {
        "AskingPlan": "karat.llm.report:plan_document",
        "ModelRatings": "karat.llm.report:ratings_document",
        "ModelPairs": "karat.llm.report:pairs_document",
        "ModelSupports": "karat.llm.report:supports_document",
        "PromptList": "karat.llm.report:prompts_document",
        "DraftedNuggets": "karat.nuggets.report.contents:drafts_document",
        "NuggetScoring": "karat.nuggets.report.scores:score_document",
        "NuggetChanges": "karat.nuggets.report.changes:changes_document",
        "NuggetEvaluation": "karat.nuggets.report.evaluation:evaluation_document",
        "NuggetTuning": "karat.nuggets.report.evaluation:tuning_document",
        "NuggetAgreement": "karat.nuggets.report.evaluation:agreement_document",
        "NuggetContents": "karat.nuggets.report.contents:contents_document",
        "NuggetJudgeAgreement": "karat.nuggets.report.contents:nugget_judges_document",
        "LanguageScores": "karat.lm.report:scores_document",
        "TrainedModel": "karat.lm.report:trained_document",
        "ParaphraseScores": "karat.paraphrase.report.documents:scores_document",
        "ParaphraseExplanations": "karat.paraphrase.report.documents:explanations_document",
        "GeneratedParaphrases": "karat.paraphrase.report.documents:generated_document",
        "ParaphraseEvaluation": "karat.paraphrase.report.documents:evaluation_document",
        "WordAlignment": "karat.paraphrase.report.documents:file_document",
        "WrittenFile": "karat.paraphrase.report.documents:file_document",
        "RealizedSentences": "karat.realize.report.tables:sentences_document",
        "RealizedTree": "karat.realize.report.explanation:explain_document",
        "RealizerEvaluation": "karat.realize.report.tables:evaluation_document",
        "RealizerTraining": "karat.realize.report.tables:training_document",
        "StoreCheck": "karat.studio.report:store_check_document",
        "SupertagList": "karat.realize.report.tables:supertags_document",
    },
}
