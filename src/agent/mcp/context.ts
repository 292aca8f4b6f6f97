/** What the tools of the MCP server use. */

import type { AgentContext } from '../context.ts';
import type { Identity } from '../toolservers/identity.ts';
import type { McpCalls } from './calls.ts';

export interface McpContext extends AgentContext {
  readonly calls: McpCalls;
  /** IDP_URL. */
  readonly authorizationServer: string | undefined;
  readonly identity: Identity;
}
