/** The operator's brand (docs/specification/media.md#brand) in the program that `npm start` starts. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '#app/config.ts';
import { senderOf } from '#notify/brand.ts';
import { skipWithout } from '../programs.fixture.ts';
import { newLanePlace, type Place, type Program, run } from './running.fixture.ts';

let place: Place;
beforeAll(async () => {
  place = await newLanePlace();
});
afterAll(() => place.remove());

describe('wrong settings of the brand', () => {
  const faultOf = (environment: Readonly<Record<string, string>>) => {
    try {
      readConfig({ ...place.env, ...environment }, ['media'], { keepSecrets: false });
    } catch (error) {
      return String(error);
    }
    return 'none';
  };

  it('are all named in one error', async () => {
    const text = join(place.dataDir, 'text.png');
    await writeFile(text, 'no picture');
    const fault = faultOf({
      BRAND_NAME: 'ატელიე',
      BRAND_WATERMARK_POSITION: 'left',
      BRAND_WATERMARK_OPACITY: '1.1',
      BRAND_WATERMARK_SCALE: '0',
      BRAND_CLOSING_CLIP: join(place.dataDir, 'none.mp4'),
    });
    expect(fault).toContain('BRAND_NAME has the character "ა", which no font of the program has');
    expect(fault).toContain('BRAND_WATERMARK_POSITION must be one of northwest');
    expect(fault).toContain('BRAND_WATERMARK_OPACITY must be a number from 0.05 to 1');
    expect(fault).toContain('BRAND_WATERMARK_SCALE must be a number from 0.01 to 0.9');
    expect(fault).toContain(`BRAND_CLOSING_CLIP names ${place.dataDir}/none.mp4, which cannot be read (ENOENT)`);
    expect(faultOf({ BRAND_WATERMARK: '/nowhere/logo.png' })).toContain('BRAND_WATERMARK names /nowhere/logo.png');
    expect(faultOf({ BRAND_WATERMARK: text })).toContain('is neither a PNG nor an SVG file');
    expect(faultOf({ BRAND_NAME: 'two\nlines' })).toContain('BRAND_NAME must be one line');
  });

  it('do not include a name without a font, if there is a picture', async () => {
    const picture = join(place.dataDir, 'logo.svg');
    await writeFile(picture, '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    expect(faultOf({ BRAND_NAME: 'ატელიე', BRAND_WATERMARK: picture })).toBe('none');
  });

  it('include files that cannot be decoded', async () => {
    const [picture, clip] = [join(place.dataDir, 'damaged.png'), join(place.dataDir, 'damaged.mp4')];
    await writeFile(picture, '\x89PNG\r\n\x1a\nnothing', 'latin1');
    await writeFile(clip, 'nothing');
    for (const [variable, path] of [
      ['BRAND_WATERMARK', picture],
      // Without ffmpeg, no clip is read.
      ...(skipWithout('ffmpeg') ? [] : [['BRAND_CLOSING_CLIP', clip] as const]),
    ] as const) {
      const program = run('start', ['media'], { ...place.env, [variable]: path });
      expect(await program.ended(60_000)).toBe(1);
      expect(program.output()).toContain(variable);
    }
  });
});

describe('a brand', () => {
  let program: Program;
  const brand = 'Студия & Co';
  beforeAll(async () => {
    const env = { ...place.env, BRAND_NAME: brand, INTERNAL_KEY: 'an internal key' };
    program = run('start', ['media', 'edge', 'notify', 'console'], env);
    await program.waitFor('Atelier is ready', 120_000);
  });
  afterAll(async () => {
    program.child.kill('SIGTERM');
    await program.ended();
  });
  const read = async (offset: number, path: string, init: RequestInit = {}) =>
    (await fetch(`http://localhost:${place.portBase + offset}${path}`, init)).text();

  it('is in the console, on pages of shares and in mails', async () => {
    const page = await read(0, '/');
    expect(page).toContain('<title>Студия &amp; Co</title>');
    expect(page).not.toContain('Atelier');
    expect(await read(10, '/s/0123456789012345678901')).toContain('<title>Студия &amp; Co</title>');
    const mail = await read(7, '/types/account_deletion.scheduled/preview', {
      method: 'POST',
      headers: { 'x-internal-key': 'an internal key', 'content-type': 'application/json' },
      body: JSON.stringify({ locale: 'en' }),
    });
    expect(mail).toContain('Студия &amp; Co');
  });

  it('is the sender of emails, unless NOTIFY_FROM has a name', async () => {
    const sent = await read(7, '/notify', {
      method: 'POST',
      headers: { 'x-internal-key': 'an internal key', 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ type: 'account_deletion.scheduled', userId: randomUUID(), contact: { email: 'ada@example.com' } },
        data: { deletionAt: '2026-12-24T00:00:00.000Z' },
      }),
    });
    const folder = join(place.dataDir, 'outbox');
    const [name] = await readdir(folder).catch(() => []);
    expect([sent, name]).toEqual([sent, expect.stringMatching(/eml$/)]);
    const { from } = await PostalMime.parse(await readFile(join(folder, name ?? '')));
    expect(from).toMatchObject({ name: brand, address: 'noreply@example.com' });
    expect(senderOf('Desk <desk@example.com>', brand)).toBe('Desk <desk@example.com>');
    expect(senderOf('desk@example.com', 'A "B", Inc.')).toBe('"A \\"B\\", Inc." <desk@example.com>');
  });
});
