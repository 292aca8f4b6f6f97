/** Returns `undefined` for what is not JSON. The caller reports what is missing in it. */
export function parseJson(text: string | Uint8Array): unknown {
  try {
    return JSON.parse(
      typeof text === 'string' ? text : Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString(),
    );
  } catch {
    return undefined;
  }
}
