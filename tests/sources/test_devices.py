"""Devices: what data sheets and logs state, laws that hold for all of them, and bad files."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import get_args

import pytest

from txcalc.errors import DescriptionError, OptionError
from txcalc.sources.bundled import configs
from txcalc.sources.devices import all_devices, device_names, device_of, load_device
from txcalc.workload.device import Device, Facts

DEVICES = {device.name: device for device in all_devices()}

ASKED_FOR = (
    "a100-40gb", "a100-80gb", "h100-sxm", "h100-pcie", "h100-nvl", "h200", "b200", "gb200", "l4",
    "l40s", "a10g", "v100", "t4", "rtx-3090", "rtx-4090", "rtx-5090", "mi250x", "mi300x", "mi325x",
    "mi355x", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "gaudi-3", "m2-max", "m2-ultra", "m3-max",
    "m3-ultra", "m4-max",
)  # fmt: skip

AMPERE_TO_HOPPER = (
    "a100-40gb", "a100-80gb", "a10g", "rtx-3090", "l4", "l40s", "rtx-4090", "h100-sxm",
    "h100-pcie", "h100-nvl", "h200",
)  # fmt: skip

GOOD = """\
name: mine
source: my machine
memory_gib: 79.18
bandwidth_gbps: 3350
dense_tflops: {bf16: 989.5, int8: 1979}
sparse_tflops: {bf16: 1979}
links_gbps: {nvlink: 450}
"""

EDITS = {
    # A number that is none, or none that a device has.
    "zero": ("3350", "0", "bandwidth_gbps: a positive number", "not 0"),
    "negative": ("79.18", "-79.18", "memory_gib: a positive number", "'-79.18'"),
    "exponent": ("3350", "3.35e3", "bandwidth_gbps: ", "plain decimals", "'3.35e3'"),
    "thousands": ("3350", "'3,350'", "bandwidth_gbps: ", "plain decimals", "'3,350'"),
    "unit": ("79.18", "79.18 GiB", "memory_gib: ", "plain decimals"),
    "leading-zero": ("79.18", "079.18", "memory_gib: ", "plain decimals"),
    "no-fraction": ("79.18", "79.", "memory_gib: ", "plain decimals"),
    "true": ("79.18", "true", "memory_gib: ", "not True"),
    "nothing": ("79.18", "", "memory_gib: ", "not None"),
    "list": ("79.18", "[79]", "memory_gib: ", "not [79]"),
    "endless": ("3350", "9" * 50, "bandwidth_gbps: ", "plain decimals"),
    "zero-peak": ("bf16: 989.5", "bf16: 0.0", "dense_tflops.bf16: a positive number"),
    "word-for-a-link": ("nvlink: 450", "nvlink: fast", "links_gbps.nvlink: ", "'fast'"),
    # A key that is none.
    "unknown-field": ("memory_gib", "memory_gb", "memory_gb: unknown field", "'memory_gib'"),
    "unknown-format": ("int8: 1979", "fp61: 1979", "dense_tflops.fp61: unknown", "'fp16'"),
    "unknown-sparse": ("{bf16: 1979}", "{bf61: 1979}", "sparse_tflops.bf61: ", "'bf16'"),
    "missing": ("memory_gib: 79.18\n", "", "missing", "memory_gib"),
    "table-as-list": ("{nvlink: 450}", "[450]", "links_gbps: a mapping"),
    "nominal": ("name: mine", "name: mine\nnominal: 80", "nominal: true or false"),
    "notes": ("name: mine", "name: mine\nnotes: one", "notes: a list"),
    "control-character": ("my machine", '"\\e[31m"', "source: a printable text"),
    "no-name": ("name: mine", "name: ''", "name: a printable text"),
    # Fields that contradict each other.
    "swapped": ("bf16: 989.5", "bf16: 3958", "sparse_tflops.bf16: below the dense peak"),
    "sparse-alone": ("bf16: 989.5, ", "", "sparse_tflops.bf16: no dense peak"),
    "misspelt-facts": ("my machine", "{memroy: a}", "source.memroy: unknown", "'memory'"),
    "no-source-of-memory": ("my machine", "{bandwidth: a}", "source: says nothing of memory"),
    "no-source-of-peaks": ("my machine", "{memory: a, bandwidth: a, links: a}",
                           "source: says nothing of peaks"),
    "no-source-of-links": ("my machine", "{memory: a, bandwidth: a, peaks: a}",
                           "source: says nothing of links"),
}  # fmt: skip


def numbers(**written: str) -> dict[str, Fraction]:
    return {key: Fraction(value) for key, value in written.items()}


def refused(path: Path) -> str:
    with pytest.raises(DescriptionError) as caught:
        load_device(str(path))
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


def test_every_device_asked_for_is_there_under_its_file_name() -> None:
    assert sorted(ASKED_FOR) == device_names() == [device.name for device in all_devices()]
    files = Path(configs(), "devices").glob("*")
    assert sorted(path.name for path in files) == [f"{name}.yaml" for name in device_names()]


def test_h100_sxm_is_half_of_what_the_data_sheet_prints_with_sparsity() -> None:
    # nvidia.com/en-us/data-center/h100: 1,979 and 3,958 teraFLOPS with sparsity, 3.35 TB/s,
    # NVLink 900 GB/s, PCIe Gen5 128 GB/s, both directions together.  vLLM logs 79.18 GiB.
    h100 = load_device("h100-sxm")
    assert h100.peak("bf16") == h100.peak("fp16") == Fraction(1979, 2) * 10**12
    assert h100.peak("fp8") == h100.peak("int8") == Fraction(3958, 2) * 10**12
    assert h100.memory == Fraction("79.18") * 2**30
    assert not h100.nominal
    assert h100.bandwidth == 3_350 * 10**9
    assert (h100.link("nvlink"), h100.link("pcie")) == (450 * 10**9, 64 * 10**9)
    assert round(h100.peak("bf16") / h100.bandwidth, 2) == Fraction("295.37")


def test_a100_is_what_its_data_sheet_says() -> None:
    # 312 TFLOPS, 1,555 and 2,039 GB/s (SXM), NVLink 600 GB/s in both directions.  The ridge of
    # kipply.blog's transformer inference arithmetic, 208, rounds the bandwidth to 1.5 TB/s.
    small, large = load_device("a100-40gb"), load_device("a100-80gb")
    assert small.peak("bf16") == large.peak("bf16") == 312 * 10**12
    assert (small.bandwidth, large.bandwidth) == (1_555 * 10**9, 2_039 * 10**9)
    assert small.link("nvlink") == 300 * 10**9
    assert small.peak("bf16") / (1_500 * 10**9) == 208
    assert small.dense_tflops == large.dense_tflops


def test_consumer_cards_have_the_peaks_with_fp32_accumulation() -> None:
    # NVIDIA Ada architecture, appendix A, and RTX Blackwell architecture, table 3.
    stated = {"rtx-3090": "71.2", "rtx-4090": "165.2", "rtx-5090": "209.5"}
    for name, peak in stated.items():
        assert DEVICES[name].dense_tflops["fp16"] == Fraction(peak)
        assert DEVICES[name].dense_tflops["bf16"] == Fraction(peak)
    assert DEVICES["rtx-4090"].dense_tflops["fp8"] == Fraction("330.3")


def test_blackwell_is_half_of_what_the_data_sheet_prints_with_sparsity() -> None:
    # NVIDIA Blackwell data sheet, individual GPUs: 18 and 20 PFLOPS of FP4, 7.7 and 8 TB/s.
    b200, gb200 = DEVICES["b200"], DEVICES["gb200"]
    assert (b200.peak("fp4"), gb200.peak("fp4")) == (9 * 10**15, 10 * 10**15)
    assert (b200.bandwidth, gb200.bandwidth) == (7_700 * 10**9, 8_000 * 10**9)


def test_amd_devices_are_what_its_white_papers_say() -> None:
    # AMD CDNA 3 white paper, table of products; seven links of 32 Gbit/s x 16 lanes a direction.
    peaks = numbers(tf32="653.7", bf16="1307.4", fp16="1307.4", fp8="2614.9", int8="2614.9")
    for name, bandwidth in (("mi300x", 5_300), ("mi325x", 6_000)):
        assert DEVICES[name].dense_tflops == {"fp32": Fraction("163.4"), **peaks}
        assert DEVICES[name].bandwidth_gbps == bandwidth
        assert DEVICES[name].links_gbps["infinity_fabric"] == 7 * 32 * 16 // 8
    assert DEVICES["mi355x"].links_gbps["infinity_fabric"] == 7 * Fraction("38.4") * 16 / 8
    # A module of MI250X has 383 TFLOP/s and 3,276.8 GB/s; its two dies are two GPUs.
    assert 2 * DEVICES["mi250x"].peak("bf16") == 383 * 10**12
    assert 2 * DEVICES["mi250x"].bandwidth_gbps == Fraction("3276.8")


def test_tpus_are_what_the_documentation_of_cloud_tpu_says() -> None:
    # docs.cloud.google.com/tpu/docs: bf16 TFLOPs, GB/s of HBM, GB/s of ICI in both directions.
    stated = {"tpu-v5e": (197, 819, 400), "tpu-v5p": (459, 2765, 1200), "tpu-v6e": (918, 1638, 800)}
    for name, (peak, bandwidth, ici) in stated.items():
        device = DEVICES[name]
        assert (device.dense_tflops["bf16"], device.bandwidth_gbps) == (peak, bandwidth)
        assert device.links_gbps == {"ici": Fraction(ici, 2)}


@pytest.mark.parametrize("name", AMPERE_TO_HOPPER)
def test_sparsity_doubles_every_peak_of_tensor_cores_from_ampere_to_hopper(name: str) -> None:
    device = DEVICES[name]
    assert device.sparse_tflops == {
        fmt: 2 * peak for fmt, peak in device.dense_tflops.items() if fmt != "fp32"
    }


@pytest.mark.parametrize("name", ASKED_FOR)
def test_every_group_of_facts_has_a_source(name: str) -> None:
    source = DEVICES[name].source
    assert isinstance(source, dict)
    assert {"memory", "bandwidth"} <= set(source) <= set(get_args(Facts))
    assert all(DEVICES[name].cited)


@pytest.mark.parametrize("name", ASKED_FOR)
def test_narrower_formats_are_not_slower(name: str) -> None:
    device = DEVICES[name]
    order = ("fp32", "tf32", "bf16", "fp8", "fp4")
    peaks = [device.dense_tflops[fmt] for fmt in order if fmt in device.dense_tflops]
    assert peaks == sorted(peaks)


@pytest.mark.parametrize("name", ASKED_FOR)
def test_a_program_sees_no_more_than_the_size_in_the_name_of_the_device(name: str) -> None:
    # Vendors' GB of memory chips are GiB: 80 GB are five stacks of 16 GiB.
    sizes = {"a100-40gb": 40, "a100-80gb": 80, "h100-sxm": 80, "h100-nvl": 94, "l4": 24, "l40s": 48,
             "a10g": 24, "v100": 32, "t4": 16, "rtx-3090": 24, "rtx-4090": 24, "rtx-5090": 32,
             "mi250x": 64, "mi300x": 192, "mi325x": 256, "mi355x": 288, "tpu-v4": 32,
             "tpu-v5e": 16, "tpu-v6e": 32, "m4-max": 128, "h200": 141, "b200": 180,
             "gb200": 186, "tpu-v5p": 96}  # fmt: skip
    device = DEVICES[name]
    assert device.nominal == (name not in sizes)
    assert device.nominal or sizes[name] * Fraction(4, 5) < device.memory_gib < sizes[name]


def test_a_name_is_found_in_any_case() -> None:
    assert load_device("H100-SXM") == load_device("h100-sxm")
    assert load_device("TPU-v5e").name == "tpu-v5e"


def test_a_file_of_ones_own_is_a_device(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD)
    mine = load_device(str(path))
    assert mine == Device(
        name="mine",
        source="my machine",
        memory_gib=Fraction("79.18"),
        bandwidth_gbps=Fraction(3350),
        dense_tflops={"bf16": Fraction("989.5"), "int8": Fraction(1979)},
        sparse_tflops={"bf16": Fraction(1979)},
        links_gbps={"nvlink": Fraction(450)},
    )
    assert mine.cited == ["my machine"]


def test_peaks_and_links_are_optional() -> None:
    least = {"name": "a", "source": "b", "memory_gib": 8, "bandwidth_gbps": "0.5"}
    device = device_of(least, "least")
    assert device.bandwidth == 5 * 10**8
    with pytest.raises(OptionError, match="a has no dense peak 'bf16'; it states none"):
        device.peak("bf16")


def test_what_a_device_lacks_is_refused_with_what_it_has() -> None:
    with pytest.raises(OptionError, match=r"v100 has no dense peak 'bf16'; it has fp32, fp16$"):
        load_device("v100").peak("bf16")
    with pytest.raises(OptionError, match=r"l4 has no link 'nvlink'; it has pcie$"):
        load_device("l4").link("nvlink")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("h100", "'h100-sxm'"),
        ("a100", "'a100-80gb'"),
        ("rtx4090", "'rtx-4090'"),
        ("MI300", "'mi300x'"),
        ("abacus", "'txcalc devices' lists those there are"),
        ("", "'txcalc devices' lists those there are"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(OptionError) as caught:
        load_device(name)
    assert f"no bundled device and no file {name!r}; " in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize("case", EDITS)
def test_a_bad_field_is_named_with_what_would_be_right(case: str, tmp_path: Path) -> None:
    old, new, *said = EDITS[case]
    assert old in GOOD
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD.replace(old, new, 1))
    message = refused(path)
    assert all(part in message for part in said), message


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "empty"), ("5\n", "mapping"), ("- a\n", "mapping"), ("a: &b 1\n", "anchors")],
)
def test_a_text_that_is_no_device_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert said in refused(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert "cannot be read" in refused(tmp_path / "none.yaml")
    assert "cannot be read" in refused(tmp_path)
