/**
 * Connects to the agent as an MCP client, generates an image, and lists the library.
 *
 *     npm start                                   # in the repository, in another terminal
 *     npm install --prefix examples/mcp
 *     ATELIER_TOKEN=$(npm run -s token) node examples/mcp/draw.ts "a lighthouse at dusk"
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { ATELIER_TOKEN = '', AGENT_URL = 'http://localhost:4004' } = process.env;
const [prompt = 'a lighthouse at dusk'] = process.argv.slice(2);

const client = new Client({ name: 'atelier-example', version: '1.0.0' });
await client.connect(
  new StreamableHTTPClientTransport(new URL('/mcp', AGENT_URL), {
    requestInit: { headers: { authorization: `Bearer ${ATELIER_TOKEN}` } },
  }),
);

const { tools } = await client.listTools();
console.log(`tools: ${tools.map(({ name }) => name).join(', ')}`);

// Generating an image can take longer than the default timeout of the SDK.
const result = await client.callTool({ name: 'generate_image', arguments: { prompt } }, undefined, {
  timeout: 240_000,
});
if (result.isError) {
  // Credits, limits and refusals: `structuredContent.error` is a stable code.
  console.error(result.structuredContent);
  process.exitCode = 1;
} else {
  console.log(`image: ${JSON.stringify(result.structuredContent)}`);
  const library = await client.callTool({ name: 'list_assets', arguments: { limit: 5 } });
  console.log(`library: ${JSON.stringify(library.structuredContent)}`);
}
await client.close();
