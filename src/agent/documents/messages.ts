/** What goes to the PDF thread, and what comes back. */
export interface PdfRequest {
  readonly bytes: Uint8Array;
  readonly maxPages: number;
  readonly maxCharacters: number;
}

export interface PdfReply {
  /** `undefined`: the document has too many pages. */
  readonly text: string | undefined;
}
