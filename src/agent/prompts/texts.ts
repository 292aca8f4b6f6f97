/** The texts of a user's message that a model reads. */
import type { TaskRequest } from '../api.ts';
import { isTextType, readDataUrl } from '../attachments.ts';

/** Its texts, the names of its files, and text files in `data:` URLs. */
export function textsOf({ message, text }: Pick<TaskRequest, 'message' | 'text'>): readonly string[] {
  const parts = message?.parts ?? [];
  return [text ?? '', ...parts.flatMap((part) => (part.type === 'text' ? part.text : textsOfFile(part)))];
}

type FilePart = Extract<NonNullable<TaskRequest['message']>['parts'][number], { type: 'file' }>;

function textsOfFile({ filename, mediaType, url }: FilePart): readonly string[] {
  const file = isTextType(mediaType.split(';', 1)[0] ?? '') ? readDataUrl(url) : undefined;
  return [filename ?? '', ...(file === undefined ? [] : [new TextDecoder().decode(file.bytes)])];
}
