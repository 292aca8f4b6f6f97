/** Stock `useChat` of the AI SDK, versions 6 and 7, in a browser: people approve, deny and load the page again. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';
import { type ScriptedRig, startScripted } from './scripted.fixture.ts';

const versions = [
  ['6', { ai: 'ai6', '@ai-sdk/react': 'ai-react6' }],
  ['7', {}],
] as const;

describe.skipIf(withoutChromium)('stock useChat', () => {
  let rig: ScriptedRig;
  let user: Chatter;
  let browser: Browser;
  let pages: Server;
  let origin: string;
  /** What the server of the pages answers. */
  let render: () => Promise<string> = async () => '';
  beforeAll(async () => {
    pages = createServer(async (_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(await render());
    }).listen(0, '127.0.0.1');
    await once(pages, 'listening');
    origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
    rig = await startScripted({
      settings: { toolApproval: { saveMemory: true } },
      changes: { agentOrigins: [origin] },
    });
    [user, browser] = [await rig.user('pro', 1000), await launchChromium()];
  });
  afterAll(async () => {
    await browser.close();
    await rig.close();
    pages.closeAllConnections();
    pages.close();
  });

  describe.each(versions)('of version %s', (_version, alias) => {
    let script: string;
    beforeAll(async () => {
      const { outputFiles } = await build({
        entryPoints: ['test/agent/stockpage.jsx'],
        bundle: true,
        write: false,
        format: 'iife',
        jsx: 'automatic',
        alias,
        define: { 'process.env.NODE_ENV': '"production"' },
        logLevel: 'silent',
      });
      script = outputFiles[0]?.text ?? '';
    });

    /** Opens the thread with the messages that it has. */
    async function open(threadId: string, question: string): Promise<Page> {
      const page = await browser.newPage();
      page.setDefaultTimeout(15_000);
      const escaped = (value: unknown) => JSON.stringify(value).replaceAll('<', '\\u003c');
      render = async () => {
        const messages = await user.messages(threadId);
        const options = { api: rig.url, threadId, headers: user.credential, messages };
        const begin = `window.options = ${escaped(options)}; window.question = ${escaped(question)};`;
        const code = script.replaceAll('</script', '<\\/script');
        return `<!doctype html><meta charset="utf-8"><body><script>${begin}</script><script>${code}</script>`;
      };
      await page.goto(`${origin}/`);
      return page;
    }

    function ask(content: string) {
      const question = `<save ${randomUUID()}>`;
      rig.provider.on(
        question,
        { calls: [{ id: 'call_0', name: 'saveMemory', args: { content } }] },
        { text: 'It is done.' },
      );
      return question;
    }

    it('approves', async () => {
      const content = `approved ${randomUUID()}`;
      const page = await open(newThread(), ask(content));
      await page.getByText('Send').click();
      await page.getByText('Approve').click();
      await page.getByText('It is done.').waitFor();
      expect(await page.locator('.assistant').count()).toBe(1);
      expect(await page.locator('.assistant p').allTextContents()).toEqual([
        'tool-saveMemory: output-available',
        'It is done.',
      ]);
      expect(rig.memories.filter((one) => one === content)).toHaveLength(1);
      await page.close();
    });

    it('denies', async () => {
      const content = `denied ${randomUUID()}`;
      const page = await open(newThread(), ask(content));
      await page.getByText('Send').click();
      await page.getByText('Deny').click();
      await page.getByText('It is done.').waitFor();
      expect(await page.locator('.assistant p').allTextContents()).toEqual([
        'tool-saveMemory: output-denied',
        'It is done.',
      ]);
      expect(rig.memories).not.toContain(content);
      await page.close();
    });

    it('approves after the page was loaded again, and shows the answer once after another load', async () => {
      const content = `reloaded ${randomUUID()}`;
      const threadId = newThread();
      const page = await open(threadId, ask(content));
      await page.getByText('Send').click();
      await page.getByText('Approve').waitFor();
      // The answer is stored.
      await page.getByText('ready').waitFor();
      await page.reload();
      await page.getByText('Approve').click();
      await page.getByText('It is done.').waitFor();
      await page.getByText('ready').waitFor();
      await page.reload();
      await page.getByText('It is done.').waitFor();
      expect(await page.locator('.assistant p').allTextContents()).toEqual([
        'tool-saveMemory: output-available',
        'It is done.',
      ]);
      expect(rig.memories.filter((one) => one === content)).toHaveLength(1);
      await page.close();
    });

    it('shows the whole answer if the page is loaded again while the run goes on', async () => {
      const threadId = newThread();
      const question = `<wait ${randomUUID()}>`;
      const { promise, resolve: release } = Promise.withResolvers<void>();
      rig.provider.on(
        question,
        { calls: [{ id: 'call_0', name: 'saveMemory', args: { content: randomUUID() } }] },
        { after: promise, reply: { text: 'It is done.' } },
      );
      const page = await open(threadId, question);
      await page.getByText('Send').click();
      await page.getByText('Approve').click();
      await page.getByText('tool-saveMemory: output-available').waitFor();
      await page.reload();
      await page.getByText('tool-saveMemory: output-available').waitFor();
      release();
      await page.getByText('It is done.').waitFor();
      expect(await page.locator('.assistant p').allTextContents()).toEqual([
        'tool-saveMemory: output-available',
        'It is done.',
      ]);
      await page.close();
    });
  });
});
