"""Checks of the machine: OpenGL, GPUs and their EGL devices, a test of each encoder, fonts."""

from __future__ import annotations

import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress

import numpy as np

from cluster.diagnosis.finding import Finding, Grade
from cluster.local.machine import Machine, TooFewThreads, TooLittleMemory, this_machine, worker_count
from cluster.worker.egl_devices import device_index, egl_devices
from farm_core import landlock
from farm_core.settings import Settings
from gpu_renderer.backends.gl.readback import ReadbackRing
from gpu_renderer.content.text.families import without_font
from gpu_renderer.content.text.folders import FontFolders, fonts_folder
from gpu_renderer.encode.planes import encoder_frame, layout, reference_planes
from gpu_renderer.encode.profile import PREFERENCE, EncoderProfile, chosen, encoder_fault
from gpu_renderer.errors import EncoderUnavailable, GpuUnavailable
from gpu_renderer.geometry import damage
from gpu_renderer.geometry.region import Region
from gpu_renderer.handover_probe import probed
from gpu_renderer.kernels.loading import KernelsUnavailable, installed, loaded
from gpu_renderer.opengl.context import GpuIdentity, create_context, identity
from gpu_renderer.opengl.painter import SAMPLES, Painter

SQUARE = Region(0, 0, 16, 16)
CORES_PER_WORKER = 2
"""Cores per worker on a GPU without NVENC. On an H200 with 16 cores, 8 workers were 3.9 times as fast as one."""
OPEN_FILES = 4096
"""Open files that suffice for 1,900 connections of an API process, and for a scheduler that fetches the media of many accounts."""
KERNELS = (
    "The native kernels make drawing without a GPU faster. In the checkout: "
    f"{shlex.quote(sys.executable)} -m pip install --no-deps ./native, then see its message."
)
MESA = "Install Mesa's software driver: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri."
OLD_DRIVER = "Update the driver of the device, or set GL_SOFTWARE=true to draw with Mesa's software driver."
NVIDIA_EGL = (
    "Install the driver's GL libraries (libnvidia-gl), and check /usr/share/glvnd/egl_vendor.d/10_nvidia.json. In a container "
    "set NVIDIA_DRIVER_CAPABILITIES=graphics,video,compute,utility and use the NVIDIA runtime."
)
ENCODERS = "Unset ENCODER to use the first that works; libx264 comes with the farm, h264_nvenc needs a card and a driver that have it."


def machine_findings(settings: Settings) -> Iterator[Finding]:
    """Yield the findings about the machine itself."""
    machine = this_machine()
    yield _size(machine, settings)
    yield from _open_files()
    gpus = nvidia_gpus()
    yield from _gpus(gpus)
    yield from _drawing(settings, gpus)
    yield from _encoders(settings)
    if not settings.gl_software and (settings.encoder == "libx264" or encoder_fault("h264_nvenc") is not None):
        yield from workers_findings(len(gpus), machine.cores, settings)
    yield from _fonts(settings)
    yield _sandbox(settings)


def _size(machine: Machine, settings: Settings) -> Finding:
    """Report the cores, memory and threads that a farm can use, and whether they suffice for local workers."""
    fact = f"{machine.cores} processor cores, {machine.memory_bytes / 1e9:.1f} GB of memory"
    try:
        if settings.ray_address is None:
            worker_count(machine)
    except (TooLittleMemory, TooFewThreads) as refusal:
        return Finding("machine", "bad", fact, str(refusal))
    return Finding("machine", "good", fact)


def _open_files() -> Iterator[Finding]:
    """Report a limit of open files below which the API accepts fewer connections."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if limit != resource.RLIM_INFINITY and limit < OPEN_FILES:
        remedy = (
            "The API accepts few connections at once. Raise the limit: `ulimit -Hn` of the user, `--ulimit nofile` of the container, or "
            f"`LimitNOFILE` of the unit, to {OPEN_FILES}."
        )
        yield Finding("machine", "poor", f"a process can open {limit} files", remedy)


def nvidia_gpus() -> list[str]:
    """Return one line per NVIDIA GPU in CUDA's order, or an empty list if `nvidia-smi` is missing."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    done = subprocess.run(  # noqa: S603
        [tool, "--query-gpu=index,name,driver_version,memory.total", "--format=csv,noheader"],
        capture_output=True, text=True, check=False, timeout=20,
    )  # fmt: skip
    return [line for line in done.stdout.splitlines() if line.strip()] if done.returncode == 0 else []


def _gpus(gpus: list[str]) -> Iterator[Finding]:
    devices = egl_devices()
    for gpu in gpus:
        index = int(gpu.split(",")[0])
        mapped = [device.index for device in devices if device.cuda_index == index]
        if mapped:
            yield Finding("gpu", "good", f"{gpu.strip()}; EGL device {mapped[0]}")
        else:
            yield Finding("gpu", "poor", f"{gpu.strip()}; EGL does not offer it", NVIDIA_EGL)
    for device in devices:
        kind = "software" if device.is_software else f"CUDA GPU {device.cuda_index}"
        yield Finding(
            "egl",
            "good",
            f"device {device.index}: {kind if device.cuda_index is not None or device.is_software else 'GPU'}",
        )


def _drawing(settings: Settings, gpus: list[str]) -> Iterator[Finding]:
    try:
        index = device_index(0 if gpus else None, software=settings.gl_software)
        context = create_context(index)
    except GpuUnavailable as error:
        yield Finding("drawing", "bad", str(error), OLD_DRIVER if egl_devices() else MESA)
        return
    yield _drawn_by(identity(context), settings, gpus)
    painter = Painter(context)
    yield _samples(painter)
    yield _colours(painter)
    if painter.is_software:
        yield _finishing()
    yield from _handover(painter, settings)
    painter.pool.release()
    context.release()


def _drawn_by(drawn_by: GpuIdentity, settings: Settings, gpus: list[str]) -> Finding:
    fact = f"{drawn_by.vendor} / {drawn_by.renderer} / {drawn_by.version}"
    if not drawn_by.is_software:
        return Finding("drawing", "good", f"hardware: {fact}")
    if gpus and not settings.gl_software:
        return Finding("drawing", "poor", f"SOFTWARE, although there is a GPU: {fact}", NVIDIA_EGL)
    return Finding("drawing", "poor", f"software, on the processor: {fact}", "A GPU draws many times faster.")


def _samples(painter: Painter) -> Finding:
    """Report if the driver lacks a feature without which planes in space are drawn less exactly."""
    if painter.context.max_samples < SAMPLES:
        fact = f"the driver lacks {SAMPLES} samples a pixel: planes in space that hide one another have jagged edges"
    elif not painter.can_place_samples:
        fact = "the driver lacks GL_ARB_sample_shading: planes that lie in one plane in space can hide other pixels"
    else:
        return Finding("samples", "good", f"{SAMPLES} samples a pixel, each with its own depth")
    return Finding("samples", "poor", fact, "Update or change the GPU's driver.")


def _colours(painter: Painter) -> Finding:
    """Draw one colour, convert it, read it back, and compare it with the formula."""
    of, colour = layout(16, 16), np.full((16, 16, 3), (200, 100, 50), np.uint8)
    with (
        closing(ReadbackRing(painter, of, 1, pixel_buffers=True)) as ring,
        painter.pool.acquired(SQUARE, "f1") as target,
    ):
        target.framebuffer.clear(200 / 255, 100 / 255, 50 / 255, 1.0)
        ring.put(target, damage.whole(SQUARE), encoder_frame(of))
        luma = int(np.frombuffer(memoryview(ring.collect().planes[0]), np.uint8)[0])
    expected = int(reference_planes(colour)[0][0, 0])
    if abs(luma - expected) <= 1:
        return Finding("colours", "good", "what is drawn comes back as it should")
    return Finding(
        "colours", "bad", f"luma {luma} came back instead of {expected}", "Update or change the GPU's driver."
    )


def _finishing() -> Finding:
    """Report whether native kernels or shaders finish the frames that the CPU draws."""
    try:
        loaded(installed()[-1])
    except KernelsUnavailable as error:
        return Finding("finishing", "poor", f"frames are finished by shaders: {error}", KERNELS)
    return Finding("finishing", "good", "frames are finished by native kernels")


def _handover(painter: Painter, settings: Settings) -> Iterator[Finding]:
    """Report if frames stay on the GPU. Report nothing without a working encoder: another check covers that."""
    with suppress(EncoderUnavailable):
        verdict, handover = probed(
            painter,
            chosen(EncoderProfile(codec=settings.encoder) if settings.encoder else None),
            switch=settings.encode_from_gpu,
        )
        if handover is not None:
            handover.close()
        yield Finding("handover", "good", str(verdict))


def _encoders(settings: Settings) -> Iterator[Finding]:
    reasons = {codec: encoder_fault(codec) for codec in PREFERENCE if settings.encoder in (None, codec)}
    first = next((codec for codec, reason in reasons.items() if reason is None), None)
    for codec, reason in reasons.items():
        if reason is None:
            yield Finding("encoder", "good", f"{codec} works, and will be used" if codec == first else f"{codec} works")
        else:
            grade: Grade = "poor" if first else "bad"
            yield Finding("encoder", grade, f"{codec} does not work ({reason})", "" if first else ENCODERS)


def workers_findings(gpus: int, cores: int, settings: Settings) -> Iterator[Finding]:
    """Advise more workers per GPU if the CPU encodes and has idle cores."""
    worth = cores // (CORES_PER_WORKER * gpus) if gpus else 0
    if settings.workers is None and worth > settings.workers_per_gpu:
        fact = f"{settings.workers_per_gpu} for each GPU, each of which encodes on two to three of {cores} cores"
        remedy = (
            f"Set WORKERS_PER_GPU={worth}: without NVENC the processor is the limit. Each takes 0.5 to 1 GB of memory."
        )
        yield Finding("workers", "poor", fact, remedy)


def _sandbox(settings: Settings) -> Finding:
    """Report if the kernel can restrict render threads and inspections of uploads to the files and connections that they need."""
    abi = landlock.version()
    if not settings.drawing_sandbox:
        return Finding("sandbox", "poor", "off, as DRAWING_SANDBOX says")
    if abi == 0:
        remedy = "Use Linux 5.13 or newer, with landlock among the modules of the kernel parameter lsm=."
        return Finding(
            "sandbox",
            "poor",
            "the kernel has no Landlock: render threads and inspections of uploads can open any file",
            remedy,
        )
    network = "files and TCP ports" if abi >= landlock.NETWORK_ABI else "files; ports from Linux 6.7 on"
    return Finding("sandbox", "good", f"Landlock {abi} limits render threads and inspections of uploads: {network}")


def _fonts(settings: Settings) -> Iterator[Finding]:
    for folder in settings.further_fonts:
        if not folder.is_dir():
            yield Finding("fonts", "poor", f"there is no folder {folder}", "Check FONT_FOLDERS.")
    files = FontFolders(fonts_folder(), further=settings.further_fonts).files()
    families = len({file.family for file in files})
    if files:
        yield Finding("fonts", "good", f"{len(files)} faces of {families} families")
        if lacking := without_font(files):
            yield Finding("fonts", "poor", f"no font for {', '.join(lacking)}", "./farm fonts fetches all font packs.")
    else:
        yield Finding("fonts", "bad", "no fonts", "./farm fonts fetches them.")
