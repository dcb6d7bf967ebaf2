"""Outputs of a model in words, as the header of its state has them side by side; and what an edge calls."""

import pytest

from flashtrain.sim.partition.model_facts import check_assumptions, functions_at_the_edge, words_of_outputs
from flashtrain.spec.errors import ToolError

HEADER = """\
    struct {
        VL_IN8(clk,0,0);
        VL_OUT8(a,0,0);
        VL_OUT8(b,1,0);
        VL_OUT8(c,7,0);
        VL_OUT16(d,15,0);
        CData/*0:0*/ inside;
        VL_OUT8(e,0,0);
    };
    struct {
        VL_OUT8(f,0,0);
        VL_OUT(g,31,0);
        VL_OUTW(wide,127,0,4);
        VL_OUT64(h,63,0);
    };
"""


def test_a_word_is_as_long_as_an_integer():
    found = list(words_of_outputs(HEADER))
    assert found[:3] == [("a", "b"), ("c",), ("d",)], "of one size each, and not of three bytes"


def test_what_is_between_ends_a_word():
    assert list(words_of_outputs(HEADER))[3:] == [("e",), ("f",), ("g",), ("h",)], "wide ones are in none"


def test_a_word_has_eight_bytes_at_most():
    lines = "".join(f"        VL_OUT16(s{number},15,0);\n" for number in range(7))
    assert list(words_of_outputs(lines)) == [("s0", "s1", "s2", "s3"), ("s4", "s5"), ("s6",)]


EDGE = """\
void Vm___024root___eval_nba(Vm___024root* vlSelf) {
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    if ((1ULL & vlSelfRef.__VnbaTriggered
         [0U])) {
        Vm___024root___nba_sequent__TOP__0(vlSelf);
        Vm___024root___nba_sequent__TOP__1(vlSelf);
    }
}
"""


def test_an_edge_calls_functions():
    calls = ["Vm___024root___nba_sequent__TOP__0", "Vm___024root___nba_sequent__TOP__1"]
    assert functions_at_the_edge("Vm", EDGE) == calls


def test_an_edge_that_does_more_is_left_alone():
    more = EDGE.replace("TOP__1(vlSelf);\n", "TOP__1(vlSelf);\n        vlSelfRef.a = 1U;\n")
    assert functions_at_the_edge("Vm", more) == []
    assert functions_at_the_edge("Vm", EDGE.replace("// Body", "// Body\n    vlSelfRef.a = 1U;")) == []


STATE = """\
    VL_OUT8(a,0,0);
    VL_OUTW(wide,127,0,4);
    VlUnpacked<SData/*8:0*/, 7> storage;
    VlUnpacked<QData/*63:0*/, 1> __VicoTriggered;
    VlUnpacked<QData/*63:0*/, 1> __VnbaTriggered;
"""
SOURCE = "always_ff @(posedge clk)\n"


def test_texts_of_a_model_agree():
    check_assumptions("Vm", STATE, SOURCE, clocked=True, follows_inputs=True)
    check_assumptions("Vm", "    VL_OUT8(a,0,0);\n", "assign a = b;", clocked=False, follows_inputs=False)


@pytest.mark.parametrize(
    "old, new, clocked, follows_inputs, message",
    [
        ("", "", False, True, "a model with registers tests __VnbaTriggered"),
        ("__VnbaTriggered", "__VactTriggered", True, True, "__VnbaTriggered is a member"),
        ("", "", True, False, "eval_ico is there"),
        ("VL_OUT8", "VL_OUT128", True, True, "outputs are declared"),
        (", 7> storage", "> storage", True, True, "memories are VlUnpacked"),
    ],
)
def test_a_text_of_another_version_is_refused(old, new, clocked, follows_inputs, message):
    with pytest.raises(ToolError, match=f"^Vm: .*{message}"):
        check_assumptions("Vm", STATE.replace(old, new), SOURCE, clocked, follows_inputs)
