/** The client as applications use it: packed, installed without a network, type-checked, and run against the whole suite. */
import { cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLandscape } from '#commands/demo/media.ts';
import { root } from '../acceptance/running.fixture.ts';
import { launchChromium, withoutChromium } from '../chromium.fixture.ts';
import { type ConsoleRig, startConsole, visit } from '../console/rig.fixture.ts';
import { everyNth, isNightly } from '../lane.fixture.ts';
import { blocksOf, installClient, type Project } from './project.ts';
import { type Site, startSite } from './site.ts';
import { tokenOf } from './tokens.ts';

let rig: ConsoleRig;
let project: Project;
let page: string;
let site: Site;
beforeAll(async () => {
  site = await startSite();
  [rig, project, page] = await Promise.all([
    startConsole({ AGENT_ALLOWED_ORIGINS: site.url, ALLOWED_REDIRECT_ORIGINS: site.url }),
    installClient(),
    readFile(join(root, 'docs/client.md'), 'utf8'),
  ]);
  await sharp(await readLandscape()).toFile(join(project.folder, 'photo.jpg'));
}, 180_000);
afterAll(async () => {
  site.close();
  await Promise.all([rig.close(), project.remove()]);
});

/** Type-checks the page of an example, builds it, and shows it on the site. */
async function buildPage(name: string): Promise<void> {
  const folder = join(project.folder, name);
  await cp(join(root, 'examples', name), folder, { recursive: true });
  const types = { lib: ['es2022', 'dom', 'dom.iterable'], types: ['vite/client'], skipLibCheck: true };
  const bundled = { module: 'esnext', moduleResolution: 'bundler', jsx: 'react-jsx' };
  expect(await project.check([`${name}/page.tsx`, `${name}/vite.config.ts`], { ...types, ...bundled })).toBe('');
  const at = (service: 'auth' | 'media' | 'agent') => [
    `VITE_${service.toUpperCase()}_URL`,
    rig.addresses[service] ?? '',
  ];
  const addresses = Object.fromEntries([at('auth'), at('media'), at('agent')]);
  await project.run([join(root, 'node_modules/vite/bin/vite.js'), 'build', folder], addresses);
  site.show(join(folder, 'dist'));
}

const installed = () => join(project.folder, 'node_modules');

it('contains only JavaScript and declarations, and imports nothing of the server', async () => {
  expect((await readdir(installed())).filter((name) => !name.startsWith('.'))).toEqual(['@atelier']);
  const files = await readdir(join(installed(), '@atelier/client'), { recursive: true });
  const code = files.filter((name) => /\.\w+$/.test(name));
  expect(code.length).toBeGreaterThan(40);
  expect(code.filter((name) => !/\.(js|d\.ts)$/.test(name)).sort()).toEqual(['README.md', 'package.json']);
  const read = async (ending: string) => {
    const names = code.filter((name) => name.endsWith(ending));
    const texts = await Promise.all(names.map((name) => readFile(join(installed(), '@atelier/client', name), 'utf8')));
    return texts.join('\n');
  };
  expect(await read('.js')).not.toMatch(/from '[^.]|\bimport\(|\bprocess\.|\bBuffer\b/);
  const imported = [...(await read('.d.ts')).matchAll(/from '([^.'][^']*)'/g)].map(([, name]) => name);
  expect(new Set(imported)).toEqual(new Set(['ai']));
});

it('resolves with versions 5, 6 and 7 of the AI SDK, and not with version 4', async () => {
  const versions = isNightly ? ['4.3.19', '5.0.277', '6.0.326', '7.0.173'] : ['4.3.19', '7.0.173'];
  const resolved = await Promise.all(versions.map((version) => project.resolvesBeside('ai', version)));
  expect(resolved).toEqual(versions.map((version) => !version.startsWith('4')));
});

describe('together with the packages of applications', () => {
  beforeAll(() =>
    project.link('@types', 'undici-types', 'csstype', 'ai', '@ai-sdk', 'react', 'react-dom', 'vite', '@vitejs'),
  );

  describe('docs/client.md', () => {
    it('type-checks every block of it, and runs those for Node', async () => {
      const walk = blocksOf('ts', page).join('\n');
      expect(walk.length).toBeGreaterThan(1000);
      await project.write('walk.ts', walk);
      await project.write(
        'page.tsx',
        `${blocksOf('tsx', page).join('\n')}\nexport { atelier, Conversation, signIn, signOut };`,
      );
      const ofNode = { module: 'nodenext', types: ['node'], skipLibCheck: false };
      expect(await project.check(['walk.ts'], ofNode)).toBe('');
      const ofBrowsers = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], jsx: 'react-jsx' };
      expect(await project.check(['page.tsx'], { ...ofBrowsers, skipLibCheck: true })).toBe('');
      const here = walk.replaceAll(
        /localhost:40(\d\d)/g,
        (_, offset) => `localhost:${Number(new URL(rig.url).port) + Number(offset)}`,
      );
      await project.write('walk.ts', here);
      const output = await project.run(['walk.ts'], {
        ATELIER_TOKEN: await tokenOf(rig, 'ada@example.com'),
        INTERNAL_KEY: await rig.secret('INTERNAL_KEY'),
        MEMORY_ADMIN_TOKEN: await rig.secret('MEMORY_ADMIN_TOKEN'),
      });
      expect(output).toMatch(/(\d+) of \1\n/);
      expect(output).toMatch(/^http:\S+$/m);
      expect(output).toContain("[ 'querystring.limit' ]");
    });
  });

  it('type-checks the README of the package', async () => {
    const readme = await readFile(join(root, 'packages/client/README.md'), 'utf8');
    await project.write('readme.ts', blocksOf('ts', readme).join('\n'));
    const ofBrowsers = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], skipLibCheck: true };
    expect(await project.check(['readme.ts'], ofBrowsers)).toBe('');
  });

  describe('compiles in strict mode without the types of Node or of browsers', () => {
    const sample = `
    import { AtelierError, createAtelier, type Asset } from '@atelier/client';
    const atelier = createAtelier({ urls: { media: 'x', memory: 'y' }, credential: { internalKey: 'k' } });
    export const asset: Promise<Asset> = atelier.media.copyAsset({ fromAssetId: 'a', toScopeKind: 'k', toScopeId: 's' });
    // @ts-expect-error no address, no service
    atelier.agent;
    // @ts-expect-error a field is missing
    atelier.media.signImages({});
    // @ts-expect-error there is no such code
    export const isOdd = (error: AtelierError) => error.code === 'insufficient_credit';
    export const isPoor = (error: AtelierError) => error.code === 'insufficient_credits';
    // @ts-expect-error the answer may be that there is none
    export const address = async () => (await atelier.media.signImages({ refs: ['r'] })).r.url;
  `;
    it.each(
      everyNth<readonly [string, object]>(
        [
          ['Node', { module: 'nodenext', types: ['node'], lib: ['es2023'] }],
          ['a bundler', { module: 'esnext', moduleResolution: 'bundler', lib: ['es2023', 'dom'] }],
        ],
        2,
      ),
    )('%s', async (_, options) => {
      await project.write('sample.ts', sample);
      expect(await project.check(['sample.ts'], { ...options, exactOptionalPropertyTypes: true })).toBe('');
    });
  });

  it.each(everyNth(['ai5', 'ai'], 2))('has a chat transport for the package %s', async (sdk) => {
    const sample = `
      import { AgentChatTransport } from '@atelier/client/chat';
      import type { ChatTransport, UIMessage } from 'ai';
      export const transport: ChatTransport<UIMessage> = new AgentChatTransport({ url: 'x' });
    `;
    await project.write('transport.ts', sample);
    const paths = { ai: [join(root, 'node_modules', sdk, 'dist/index.d.ts')] };
    const options = { module: 'esnext', moduleResolution: 'bundler', types: ['node'], lib: ['es2022', 'dom'] };
    expect(await project.check(['transport.ts'], { ...options, skipLibCheck: true, paths })).toBe('');
  });

  describe('examples', () => {
    it('runs the script for Node, which uploads, signs and converses', async () => {
      await cp(join(root, 'examples/node/converse.ts'), join(project.folder, 'converse.ts'));
      const at = { MEDIA_URL: rig.addresses.media ?? '', AGENT_URL: rig.addresses.agent ?? '' };
      const token = await tokenOf(rig, 'grace@example.com');
      const output = await project.run(['converse.ts', 'photo.jpg'], { ...at, ATELIER_TOKEN: token });
      expect(output).toMatch(/sent (\d+) of \1 bytes\nregistered [0-9a-f-]{36}, 1920 × 1280\npreview http:\S+/);
      expect(output).toMatch(/\[(edit|generate)Image \{/);
      const refused = project.run(['converse.ts', 'photo.jpg'], { ...at, ATELIER_TOKEN: 'a.b.c' });
      await expect(refused).rejects.toThrow(/unauthorized: .* \([0-9a-f]{32}\)/);
    });

    it.skipIf(withoutChromium)(
      'runs the page, which signs in, uploads, converses, and restores the chat after a reload',
      async () => {
        await buildPage('react');
        const browser = await launchChromium();
        try {
          const { page: tab, complaints } = await visit(browser);
          await tab.goto(site.url);
          await tab.getByRole('link', { name: 'Sign in' }).click();
          complaints.length = 0;
          await tab.getByRole('button', { name: 'Continue' }).first().click();
          await tab.getByLabel('Image').setInputFiles(join(project.folder, 'photo.jpg'));
          await tab.getByLabel('Message').fill('make an image of a lighthouse');
          await tab.getByRole('button', { name: 'Send' }).click();
          const made = tab.getByRole('article', { name: 'assistant' }).getByRole('img');
          await made.waitFor({ timeout: 60_000 });
          await tab.getByRole('button', { name: 'Send' }).waitFor();
          await tab.reload();
          await made.waitFor();
          await expect.poll(() => made.evaluate((image) => Reflect.get(image, 'naturalWidth'))).toBeGreaterThan(0);
          const sent = tab.getByRole('article', { name: 'user' }).getByRole('img', { name: 'photo.jpg' });
          await expect.poll(() => sent.evaluate((image) => Reflect.get(image, 'naturalWidth'))).toBe(400);
          expect(complaints).toEqual([]);
        } finally {
          await browser.close();
        }
      },
    );

    it.skipIf(withoutChromium)(
      'builds the page of docs/guides/vite.md, which chats, shows images and erases',
      async () => {
        const guide = await readFile(join(root, 'docs/guides/vite.md'), 'utf8');
        const here = (text: string) =>
          text.replaceAll(
            /localhost:40(\d\d)/g,
            (_, offset) => `localhost:${Number(new URL(rig.url).port) + Number(offset)}`,
          );
        await mkdir(join(project.folder, 'vite'));
        await project.write('vite/index.html', blocksOf('text', guide).join(''));
        await project.write('vite/page.tsx', here(blocksOf('tsx', guide).join('\n')));
        const { compilerOptions } = JSON.parse(blocksOf('json', guide).join(''));
        expect(await project.check(['vite/page.tsx'], compilerOptions)).toBe('');
        await project.run([join(root, 'node_modules/vite/bin/vite.js'), 'build', join(project.folder, 'vite')]);
        site.show(join(project.folder, 'vite/dist'));
        const browser = await launchChromium();
        try {
          const { page: tab } = await visit(browser);
          tab.setDefaultTimeout(20_000);
          await tab.goto(site.url);
          await tab.getByRole('link', { name: 'Sign in' }).click();
          await tab.getByRole('button', { name: 'Continue' }).first().click();
          const isShown = (image: ReturnType<typeof tab.getByRole>) =>
            expect.poll(() => image.evaluate((shown) => Reflect.get(shown, 'naturalWidth'))).toBeGreaterThan(0);
          await tab.getByLabel('Photo').setInputFiles(join(project.folder, 'photo.jpg'));
          await tab.getByLabel('Message').fill('make an image of a lighthouse');
          await tab.getByRole('button', { name: 'Send' }).click();
          const made = tab.getByRole('article', { name: 'assistant' }).getByRole('img');
          const sent = tab.getByRole('article', { name: 'user' }).getByRole('img');
          for (const image of [sent, made]) await isShown(image);
          await tab.reload();
          for (const image of [sent, made]) await isShown(image);
          // The thumbnail of the photo, which is 1920 pixels wide.
          expect(await sent.evaluate((image) => Reflect.get(image, 'naturalWidth'))).toBe(400);
          await tab.getByRole('button', { name: 'Show my images' }).click();
          await isShown(tab.getByRole('region', { name: 'Gallery' }).getByRole('img').first());
          await tab.getByRole('button', { name: 'Erase all of me' }).click();
          await made.waitFor({ state: 'detached' });
          expect(await sent.count()).toBe(0);
          await tab.getByRole('button', { name: 'Show my images' }).click();
          await expect.poll(() => tab.getByRole('img').count()).toBe(0);
        } finally {
          await browser.close();
        }
      },
    );

    it.skipIf(withoutChromium)('runs the page of threads over the default transport of the AI SDK', async () => {
      await buildPage('threads');
      const browser = await launchChromium();
      try {
        const { page: tab } = await visit(browser);
        tab.setDefaultTimeout(20_000);
        await tab.goto(site.url);
        await tab.getByRole('link', { name: 'Sign in' }).click();
        await tab.getByRole('button', { name: 'Continue' }).first().click();
        const send = async (text: string) => {
          await tab.getByLabel('Message').fill(text);
          await tab.getByRole('button', { name: 'Send' }).click();
        };
        const answer = tab.getByRole('article', { name: 'assistant' });
        const thread = tab.getByRole('navigation').getByRole('button', { name: 'Good evening from a page' }).first();
        await send('Good evening from a page');
        // Events of the user bring the thread into the list.
        await thread.waitFor();
        await tab.getByRole('button', { name: 'Send' }).waitFor();
        await tab.getByRole('button', { name: 'Again' }).click();
        await tab.getByRole('button', { name: 'Send' }).waitFor();
        expect(await answer.count()).toBe(1);
        await send('/slow 60');
        await expect.poll(() => answer.last().innerText()).toContain('Slowly');
        await tab.reload();
        await thread.click();
        await expect.poll(() => answer.last().innerText()).toContain('Slowly');
        await tab.getByRole('button', { name: 'Stop' }).click();
        await tab.getByRole('button', { name: 'Send' }).waitFor();
        await tab.getByRole('button', { name: 'Delete Good evening from a page' }).click();
        await thread.waitFor({ state: 'detached' });
      } finally {
        await browser.close();
      }
    });
  });
});
