/** `undefined`: it is not a JSON object. */
export function parseData(text = '{}'): Readonly<Record<string, unknown>> | undefined {
  try {
    const data: unknown = JSON.parse(text === '' ? '{}' : text);
    return typeof data === 'object' && data !== null && !Array.isArray(data) ? { ...data } : undefined;
  } catch {
    return undefined;
  }
}
