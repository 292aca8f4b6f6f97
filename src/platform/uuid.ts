const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of any version, in any case. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}
