/** Boxes of ISO base media files: MP4, MOV, HEIC and AVIF. */

export interface Box {
  readonly type: string;
  /** Positions in the buffer. */
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

/** Returns the boxes between two positions of a buffer, up to the first damaged one. */
export function* boxesIn(data: Buffer, from: number, until: number): Generator<Box> {
  for (let at = from; at + 8 <= until; ) {
    const box = boxAt(data, at, until);
    if (box === undefined || box.end > until) return;
    yield box;
    at = box.end;
  }
}

/** `until`: the end of what contains it. `undefined`: the header is damaged. The box may end beyond `until`. */
export function boxAt(data: Buffer, at: number, until: number): Box | undefined {
  if (at + 8 > data.length) return undefined;
  const size = data.readUInt32BE(at);
  const type = data.toString('latin1', at + 4, at + 8);
  if (size === 0) return { type, start: at, content: at + 8, end: until };
  if (size === 1) {
    if (at + 16 > data.length) return undefined;
    const long = Number(data.readBigUInt64BE(at + 8));
    return long < 16 || !Number.isSafeInteger(at + long)
      ? undefined
      : { type, start: at, content: at + 16, end: at + long };
  }
  return size < 8 ? undefined : { type, start: at, content: at + 8, end: at + size };
}

export function boxOf(type: string, ...contents: readonly Uint8Array[]): Buffer {
  const size = contents.reduce((total, content) => total + content.length, 8);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(size);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, ...contents]);
}

/** Of a box with an XMP packet, after its type. */
export const xmpUuid = Buffer.from('be7acfcb97a942e89c71999491e3afac', 'hex');
