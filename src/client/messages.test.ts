import { describe, expect, it } from 'vitest';
import { type AtelierUIMessage, assetPart, mediaOf } from './transport.ts';

const assetId = '3f0c8a52-0000-4000-8000-000000000001';
const url = 'https://edge.example/o/1.jpg';
const file = (
  mediaType: string,
  shown: string,
  atelier?: Record<string, string>,
): AtelierUIMessage['parts'][number] => ({
  type: 'file',
  mediaType,
  url: shown,
  ...(atelier && { providerMetadata: { atelier } }),
});

describe('mediaOf', () => {
  it('returns an attached image as the output of a tool, before and after the thread is read', () => {
    const base = { kind: 'image', assetId, status: 'completed', mime: 'image/jpeg' };
    expect(mediaOf(assetPart({ assetId, mime: 'image/jpeg' }, 'blob:1', 'bee.jpg'))).toEqual({
      ...base,
      url: 'blob:1',
    });
    const thumbUrl = 'https://edge.example/t/1.webp';
    expect(mediaOf(file('image/jpeg', url, { assetId, thumbUrl }))).toEqual({ ...base, url, thumbUrl });
    expect(mediaOf(file('image/jpeg', `asset:${assetId}`, { assetId }))).toEqual({ ...base, url: null });
  });

  it('returns an attached video, also one of another server, and no other files', () => {
    expect(mediaOf(file('video/mp4', url))).toMatchObject({ kind: 'video', assetId: null, url });
    expect(mediaOf(file('application/pdf', url, { assetId }))).toBeUndefined();
  });

  it('returns the output of a tool and the state of a video, and nothing for a text', () => {
    const image = { kind: 'image', assetId, status: 'completed', url } as const;
    const called = { toolCallId: 'c', input: {}, state: 'output-available' } as const;
    expect(mediaOf({ type: 'tool-generateImage', ...called, output: image })).toBe(image);
    const video = { kind: 'video', assetId: null, status: 'processing', url: null } as const;
    expect(mediaOf({ type: 'data-video', data: video })).toBe(video);
    expect(mediaOf({ type: 'text', text: 'Look.' })).toBeUndefined();
  });
});
