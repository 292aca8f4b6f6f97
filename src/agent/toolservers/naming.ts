/** The names that models know the tools of other servers by (docs/specification/agent.md#tools-by-setting). */
import { createHash } from 'node:crypto';

/** What every provider accepts. */
const maxLength = 64;
const digestLength = 8;

export interface ToolName {
  readonly server: string;
  readonly tool: string;
}

/**
 * Returns `<server>_<tool>` for each tool, in the same order: unique, at most 64 characters, of `A-Z a-z 0-9 _ -` only. A name
 * that is too long or taken ends with a digest of the server and the tool, so that it stays the same in every process.
 */
export function nameTools(tools: readonly ToolName[], reserved: readonly string[] = []): readonly string[] {
  const taken = new Set(reserved);
  return tools.map((tool) => {
    const plain = `${tool.server}_${tool.tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_');
    const name = plain.length <= maxLength && !taken.has(plain) ? plain : withDigest(plain, tool);
    taken.add(name);
    return name;
  });
}

function withDigest(plain: string, { server, tool }: ToolName): string {
  const digest = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, digestLength);
  return `${plain.slice(0, maxLength - digestLength - 1)}_${digest}`;
}
