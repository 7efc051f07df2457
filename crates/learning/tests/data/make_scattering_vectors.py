"""Reference values for scattering features: an independent implementation, written for clarity.

Every convolution is a direct circular sum in space, in double precision. No Fourier transform is used, and every
subsampling takes samples in space, so nothing is shared with the implementation under test but the definition
(docs/training.md). Run: python3 make_scattering_vectors.py > scattering_vectors.json
"""

import json

import numpy as np


def gabor(rows, columns, sigma, theta, xi, slant):
    """The periodic sum of a Gabor function on a grid; kymatio's convention."""
    rotation = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
    curvature = rotation @ np.diag([1.0, slant**2]) @ rotation.T / (2 * sigma**2)
    total = np.zeros((rows, columns), complex)
    for period_x in range(-2, 3):
        for period_y in range(-2, 3):
            x = (np.arange(rows) + period_x * rows)[:, None]
            y = (np.arange(columns) + period_y * columns)[None, :]
            form = curvature[0, 0] * x * x + (curvature[0, 1] + curvature[1, 0]) * x * y + curvature[1, 1] * y * y
            total += np.exp(-form + 1j * xi * (x * np.cos(theta) + y * np.sin(theta)))
    return total / (2 * np.pi * sigma**2 / slant)


def morlet(rows, columns, scale, angle, angles):
    theta = (int(np.floor(angles - angles / 2 - 1)) - angle) * np.pi / angles
    sigma, xi, slant = 0.8 * 2**scale, 0.75 * np.pi / 2**scale, 4 / angles
    wave = gabor(rows, columns, sigma, theta, xi, slant)
    envelope = gabor(rows, columns, sigma, theta, 0.0, slant)
    return wave - wave.sum() / envelope.sum() * envelope


def convolve(signal, kernel):
    """Circular convolution by its definition."""
    rows, columns = signal.shape
    result = np.zeros((rows, columns), complex)
    for i in range(rows):
        for j in range(columns):
            result += signal[i, j] * np.roll(kernel, (i, j), axis=(0, 1))
    return result


def at_resolution(kernel, resolution):
    step = 2**resolution
    return step**2 * kernel[::step, ::step]


def side(length, scales):
    padded = 2**scales
    while padded < length:
        padded *= 2
    return padded


def coefficients(picture, scales, angles, order):
    height, width = picture.shape
    rows, columns = side(height, scales), side(width, scales)
    padded = np.zeros((rows, columns))
    top, left = (rows - height) // 2, (columns - width) // 2
    padded[top : top + height, left : left + width] = picture
    low_pass = gabor(rows, columns, 0.8 * 2 ** (scales - 1), 0.0, 0.0, 1.0).real
    wavelet = {(j, l): morlet(rows, columns, j, l, angles) for j in range(scales) for l in range(angles)}

    def smoothed(signal, resolution):
        step = 2 ** (scales - resolution)
        return convolve(signal, at_resolution(low_pass, resolution)).real[::step, ::step]

    zeroth = [smoothed(padded, 0)]
    first, second = [], []
    for j1, l1 in sorted(wavelet):
        step = 2**j1
        u1 = np.abs(convolve(padded, wavelet[j1, l1]))[::step, ::step]
        first.append(smoothed(u1, j1))
        if order == 2:
            for j2, l2 in sorted(wavelet):
                if j2 > j1:
                    step = 2 ** (j2 - j1)
                    u2 = np.abs(convolve(u1, at_resolution(wavelet[j2, l2], j1)))[::step, ::step]
                    second.append(smoothed(u2, j2))
    return np.array(zeroth + first + second)


def features(picture, scales, angles, order, groups):
    """Group normalisation over channels and positions, then unit length. `picture` is [channel][row][column]."""
    channels = np.concatenate([coefficients(channel, scales, angles, order) for channel in picture])
    grouped = channels.reshape(groups, -1)
    grouped = (grouped - grouped.mean(1, keepdims=True)) / np.sqrt(grouped.var(1, keepdims=True) + 1e-5)
    flat = grouped.reshape(-1)
    length = np.sqrt((flat**2).sum())
    return flat / length if length > 0 else flat


def picture(channels, height, width, seed):
    """A smooth blob with texture, between 0 and 1, the same on every machine: no random numbers."""
    c, i, j = np.meshgrid(np.arange(channels), np.arange(height), np.arange(width), indexing="ij")
    blob = np.exp(-(((i - height * 0.45) / (0.3 * height)) ** 2) - ((j - width * 0.55) / (0.25 * width)) ** 2)
    texture = 0.5 + 0.5 * np.sin(0.9 * i + 0.4 * seed + c) * np.cos(1.3 * j - 0.2 * seed * i)
    return np.round(blob * texture, 6)


def main():
    cases = []
    for channels, height, width, scales, angles, order, groups in [
        (1, 8, 8, 1, 2, 1, 3),
        (1, 8, 8, 2, 3, 2, 16),
        (1, 5, 7, 2, 2, 2, 3),
        (2, 12, 16, 3, 2, 2, 19),
        (1, 28, 28, 2, 2, 2, 3),
        (1, 28, 28, 3, 4, 2, 61),
        (1, 1, 1, 1, 1, 2, 2),
    ]:
        pixels = picture(channels, height, width, scales + angles)
        vector = features(pixels, scales, angles, order, groups)
        cases.append(
            {
                "channels": channels,
                "height": height,
                "width": width,
                "scales": scales,
                "angles": angles,
                "order": order,
                "groups": groups,
                "pixels": [float(v) for v in pixels.reshape(-1)],
                "features": [float(f"{v:.9e}") for v in vector],
            }
        )
    print(json.dumps(cases, separators=(",", ":")))


if __name__ == "__main__":
    main()
