/** PDFs of a few kilobytes that take gigabytes of memory, or all time, to read. */
import { deflateSync } from 'node:zlib';

const MiB = 1024 * 1024;
const bytesPerRepeat = 128;
const filters = '/Filter [/FlateDecode /FlateDecode /RunLengthDecode]';

/** `megabytes` of one character, compressed three times. */
function compressed(megabytes: number, character: number): Buffer {
  const repeats = Buffer.alloc((megabytes * MiB * 2) / bytesPerRepeat, Buffer.from([129, character]));
  return deflateSync(deflateSync(Buffer.concat([repeats, Buffer.from([128])]), { level: 9 }), { level: 9 });
}

/** A page with a TrueType font whose file is zeros. */
export function fontBomb(megabytes: number): Buffer {
  return pdf([
    ...onePage('/Font << /F1 5 0 R >>', contentOf('BT /F1 12 Tf 10 10 Td (A) Tj ET')),
    '<< /Type /Font /Subtype /TrueType /BaseFont /A /FirstChar 65 /LastChar 65 /Widths [500] /FontDescriptor 6 0 R >>',
    '<< /Type /FontDescriptor /FontName /A /Flags 32 /FontFile2 7 0 R >>',
    stream(filters, compressed(megabytes, 0)),
  ]);
}

/** A page of spaces. */
export function contentBomb(megabytes: number): Buffer {
  return pdf(onePage('', stream(filters, compressed(megabytes, 32))));
}

/** A page that draws a form that draws itself twenty times, and so on. */
export function loopBomb(): Buffer {
  const levels = 12;
  const forms = Array.from({ length: levels }, (_, level) => {
    const next =
      level + 1 < levels
        ? `/XObject << /X ${6 + level} 0 R >>`
        : '/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>';
    const content = level + 1 < levels ? '/X Do '.repeat(20) : 'BT /F1 12 Tf (A) Tj ET';
    return stream(`/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << ${next} >>`, Buffer.from(content));
  });
  return pdf([...onePage('/XObject << /X 5 0 R >>', contentOf('/X Do '.repeat(20))), ...forms]);
}

function onePage(resources: string, content: Buffer): readonly (string | Buffer)[] {
  return [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R /Resources << ${resources} >> >>`,
    content,
  ];
}

const contentOf = (text: string) => stream('', Buffer.from(text));

function stream(entries: string, body: Buffer): Buffer {
  const start = `<< ${entries} /Length ${body.length} >>\nstream\n`;
  return Buffer.concat([Buffer.from(start), body, Buffer.from('\nendstream')]);
}

function pdf(objects: readonly (string | Buffer)[]): Buffer {
  const parts = [Buffer.from('%PDF-1.4\n')];
  const offsets = objects.map((object, index) => {
    const offset = parts.reduce((sum, part) => sum + part.length, 0);
    parts.push(Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n'));
    return offset;
  });
  const end = parts.reduce((sum, part) => sum + part.length, 0);
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const count = objects.length + 1;
  parts.push(
    Buffer.from(`xref\n0 ${count}\n0000000000 65535 f \n${table}`),
    Buffer.from(`trailer\n<< /Size ${count} /Root 1 0 R >>\nstartxref\n${end}\n%%EOF\n`),
  );
  return Buffer.concat(parts);
}
