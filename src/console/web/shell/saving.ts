/** Offers the content as a download. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export const saveJson = (name: string, value: unknown): void =>
  saveFile(name, new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }));
