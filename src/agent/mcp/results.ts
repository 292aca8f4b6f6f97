/** Results of tools as MCP clients get them. */
import type { CallToolResult } from '@modelcontextprotocol/server';

/** An expected failure. The message is shown to the user. */
export class ToolFailed extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The text is for models, and `data` for programs. */
export function succeed(
  text: string,
  data: Readonly<Record<string, unknown>>,
  more: CallToolResult['content'] = [],
): CallToolResult {
  return { content: [{ type: 'text', text }, ...more], structuredContent: { ...data } };
}

export function fail(code: string, message: string, fields: Readonly<Record<string, unknown>> = {}): CallToolResult {
  const content: CallToolResult['content'] = [{ type: 'text', text: message }];
  return { content, structuredContent: { ...fields, error: code, message }, isError: true };
}

export function linkTo(url: string, assetId: string, mime: string): CallToolResult['content'][number] {
  return { type: 'resource_link', uri: url, name: assetId, mimeType: mime };
}
