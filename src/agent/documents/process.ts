/** The process that extracts the text of one PDF, whose file can be made to take all time and memory. */
import { extractText, getDocumentProxy } from 'unpdf';
import { exceededCode, startConfined } from '#platform/processes/confined.ts';
import type { PdfReply } from './pdftext.ts';

// The library logs a failed allocation and continues with what it has.
console.log = endIfExhausted;
console.warn = endIfExhausted;

await startConfined(async (bytes, [maxPages, maxCharacters]) =>
  JSON.stringify(await read(bytes, Number(maxPages), Number(maxCharacters))),
);

async function read(bytes: Buffer, maxPages: number, maxCharacters: number): Promise<PdfReply> {
  try {
    const document = await getDocumentProxy(new Uint8Array(bytes));
    if (document.numPages > maxPages) return {};
    const { text } = await extractText(document, { mergePages: true });
    return { text: text.slice(0, maxCharacters) };
  } catch (error) {
    // The library passes errors on as others with the same message.
    endIfExhausted(error);
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}

function endIfExhausted(...words: readonly unknown[]): void {
  if (/allocation failed|invalid (?:typed )?array (?:buffer )?length|out of memory|call stack/i.test(words.join(' ')))
    process.exit(exceededCode);
}
