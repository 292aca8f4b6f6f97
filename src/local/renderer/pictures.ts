/** Pictures by the offline renderer: real PNG files that say what they are. Colours follow the prompt. */
import { createHash } from 'node:crypto';
import sharp, { type Sharp } from 'sharp';

export const mark = 'offline demo';

export type Size = readonly [width: number, height: number];

const sizes: Readonly<Record<string, Size>> = {
  '1:1': [1024, 1024],
  '4:3': [1024, 768],
  '3:4': [768, 1024],
  '16:9': [1280, 720],
  '9:16': [720, 1280],
};

export const sizeOf = (ratio: string): Size => sizes[ratio] ?? [1024, 1024];

export async function renderPicture(prompt: string, size: Size): Promise<Uint8Array> {
  return toPng(sharp(Buffer.from(drawing(prompt, size))));
}

/** The source under a tint that follows the prompt, with a band that tells what was asked. */
export async function renderEdit(prompt: string, source: Uint8Array): Promise<Uint8Array> {
  const upright = await sharp(source, { limitInputPixels: 50_000_000 })
    .rotate()
    .resize({ width: 2048, height: 2048, fit: 'inside', withoutEnlargement: true })
    .png()
    .toBuffer({ resolveWithObject: true });
  const { width, height } = upright.info;
  const [hue] = huesOf(prompt);
  const veil = svg(
    [width, height],
    `<rect width="100%" height="100%" fill="hsl(${hue} 80% 50%)" opacity="0.25"/>${band(prompt, [width, height])}`,
  );
  return toPng(sharp(upright.data).composite([{ input: Buffer.from(veil) }]));
}

function toPng(image: Sharp): Promise<Uint8Array> {
  return image
    .withExif({ IFD0: { ImageDescription: mark, Software: 'Atelier offline renderer' } })
    .png({ compressionLevel: 6 })
    .toBuffer();
}

function drawing(prompt: string, size: Size): string {
  const [width, height] = size;
  const [sky, ground, sun] = huesOf(prompt);
  const line = Array.from({ length: 9 }, (_, index) => {
    const rise = Math.sin(index * 1.7 + sky) * 0.06 + Math.sin(index * 0.9 + ground) * 0.08;
    return `${Math.round((index / 8) * width)},${Math.round(height * (0.62 + rise))}`;
  });
  return svg(
    size,
    `<defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="hsl(${sky} 60% 30%)"/><stop offset="1" stop-color="hsl(${sun} 80% 75%)"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#s)"/>
    <circle cx="${width * 0.68}" cy="${height * 0.42}" r="${Math.min(width, height) * 0.1}" fill="hsl(${sun} 95% 88%)"/>
    <polygon points="0,${height} ${line.join(' ')} ${width},${height}" fill="hsl(${ground} 40% 28%)"/>${band(prompt, size)}`,
  );
}

function band(prompt: string, [width, height]: Size): string {
  const unit = Math.max(10, Math.round(Math.min(width, height) / 32));
  const said = escapeXml(prompt.replaceAll(/\s+/g, ' ').slice(0, 60));
  return `<rect y="${height - unit * 3}" width="100%" height="${unit * 3}" fill="black" opacity="0.55"/>
    <text x="${unit}" y="${height - unit * 1.1}" font-family="sans-serif" font-size="${unit}" fill="white">${mark} · ${said}</text>`;
}

function svg([width, height]: Size, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`;
}

/** Outside of the printable, XML has characters that it cannot hold at all. */
function escapeXml(text: string): string {
  const printable = text.replaceAll(/[^\t\x20-\ud7ff\ue000-\ufffd]/g, '');
  return printable.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function huesOf(prompt: string): readonly [number, number, number] {
  const bytes = createHash('sha256').update(prompt).digest();
  const hue = (index: number) => Math.round(((bytes[index] ?? 0) / 255) * 360);
  return [hue(0), hue(1), hue(2)];
}
