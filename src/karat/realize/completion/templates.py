"""Templates of the features of slots.

The first letter of a name says whose column it is: `i` the node's, `h` its head's, `g` the head's
head's, `d` a daughter's or sister's. The second is the column: `w` word, `l` its lemma as guessed,
`e` and `y` its last three and two characters, `p` its first four, `r` relation, `t` tag, `F` all
features, `k` size of the subtree, `n` number of daughters, `D` their relations, `A` all slots
filled so far; `f` is one feature.
"""

from __future__ import annotations

BASE = {
    "node": "ir,iw,ie,iy,ip,it,iF,ik,in,iD,iw ir,ie ir,iy ir,ip ir,it ir,iF ir,ik ir,in ir,iD ir,"
    "iD it,iD ir it,iD iw,it ik ir,iF iD,iF ir hr,hw,he,hr,ht,hF,hw ir,he ir,hp ir,ht ir,hr ir,"
    "hF ir,hw hr ir,it ir ht hr,iw hw,iw ir hw,ie ir hw,iw ir he,ie ir he,ip ir hp,iw ir ht,"
    "iw ir hp,ip ir hw,ik hk ir,hD ir,hD ir it,gw ir,gw hr ir,gr hr ir,gt ht it,gw hw ir,hD hw ir,"
    "iF hF ir,il,il ir,hl ir,il hl ir,il hl,il ir ht,gl ir,gl hl ir",
    "daughter": "dr,dr dw,dr iw,dr ir,dr ir it,dr de,dr dt,dr dF,dr dF iF,dr dw iw,dr dw ir,"
    "dr dt it,dr dk ir,dr dw iF,dr hw,dr ie ir,dr dk ik",
    "sister": "dr ir,dr ir hw,dr dw ir,dr iw ir,dr ir ht hr,dw ir hw,dr dw hw,dr dk ir ik,"
    "dr dt it ir,dr dw iw",
}
FEATURES = {
    "node": "f,f ir,f it,f it ir,f iD,f hw ir,f ie",
    "head": "f ir,f it ir,f iw",
    "daughter": "f dr,f dr iF,f dr it,f dr dw",
}
_NODE = "iA,iA ir,iA it ir,iA iw,hA ir,hA it ir,gA hr ir,iA hA ir,iA iF,hA hw ir,iA ik ir"
_NODE_SLOT = "i{k},i{k} ir,i{k} it,i{k} iw,i{k} ie,h{k} ir,h{k} iw,h{k} hw ir,i{k} h{k} ir"


def filled_templates(slots: int) -> dict[str, str]:
    """Return the templates of slots that are filled, whose columns are numbered."""
    each = range(slots)
    return {
        "node": ",".join([_NODE, *(_NODE_SLOT.format(k=k) for k in each)]),
        "daughter": ",".join(
            ["dr dA,dr dA ir,dr dA iw", *(f"d{k} dr,d{k} dr ir,d{k} dr iw" for k in each)]
        ),
        "sister": ",".join(["dr dA ir", *(f"d{k} dr ir,d{k} ir iw" for k in each)]),
    }
