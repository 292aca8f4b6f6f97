/** Answers of a provider of language models, byte by byte as they go over the wire. */
import type { ReceivedRequest, ScriptedAnswer } from './provider.fixture.ts';

/** A stream of one text, with this finish reason (none: the stream breaks off) and this usage. */
export function textStream(text: string, finishReason?: string, usage?: object): ScriptedAnswer {
  const chunks = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] },
    { choices: [{ index: 0, delta: { content: text } }] },
    ...(finishReason === undefined ? [] : [{ choices: [{ index: 0, delta: {}, finish_reason: finishReason }] }]),
    ...(usage === undefined ? [] : [{ choices: [], usage }]),
  ];
  const body = chunks.map((chunk) => `data: ${JSON.stringify({ id: '1', ...chunk })}\n\n`).join('');
  return { answer: { type: 'text/event-stream', body: `${body}data: [DONE]\n\n` } };
}

export const refusal = (
  status: number,
  headers: Readonly<Record<string, string>> = {},
  message = 'no',
): ScriptedAnswer => ({
  answer: { status, headers, body: JSON.stringify({ error: { message } }) },
});

interface SentMessage {
  readonly role: string;
  readonly content: unknown;
}

/** The messages of a request for a text. */
export function messagesOf({ body }: ReceivedRequest): readonly SentMessage[] {
  return (body as { messages: readonly SentMessage[] }).messages;
}

/** The images of a request, as bytes, in order. */
export function imagesOf(asked: ReceivedRequest): readonly Buffer[] {
  return messagesOf(asked).flatMap(({ content }) =>
    (Array.isArray(content) ? content : []).flatMap((part: { type: string; image_url?: { url: string } }) =>
      part.type === 'image_url' ? [Buffer.from(part.image_url?.url.split(',')[1] ?? '', 'base64')] : [],
    ),
  );
}

/** A PDF of one page that shows `text`. */
export function pdfOf(text: string): Buffer {
  const content = `BT /F1 24 Tf 72 700 Td (${text}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let file = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(`${file}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}${trailer}`);
}
