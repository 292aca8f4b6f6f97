/** The thread that extracts the text of one PDF: its file may be made to take all time and memory. */
import { parentPort, workerData } from 'node:worker_threads';
import { extractText, getDocumentProxy } from 'unpdf';
import type { PdfReply, PdfRequest } from './messages.ts';

const { bytes, maxPages, maxCharacters } = workerData as PdfRequest;

async function extract(): Promise<PdfReply> {
  const document = await getDocumentProxy(bytes);
  if (document.numPages > maxPages) return { text: undefined };
  const { text } = await extractText(document, { mergePages: true });
  return { text: text.slice(0, maxCharacters) };
}

parentPort?.postMessage(await extract());
