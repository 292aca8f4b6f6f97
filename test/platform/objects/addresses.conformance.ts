import { describe, expect, test } from 'vitest';
import type { Rig } from './conformance.fixture.ts';

/** Runs against the server of the URLs: the edge, or S3. */
export function describeAddresses(rig: Rig): void {
  describe('a browser shows', () => {
    test.each([
      'image/png',
      'image/jpeg',
      'image/webp',
      'image/heic',
      'image/vnd.microsoft.icon',
      'video/mp4',
      'video/mp4; codecs="avc1.42E01E"',
      'video/quicktime',
      'audio/mpeg',
      'text/plain',
      'text/plain; charset=utf-8',
    ])('%s', async (contentType) => {
      const { status, headers } = await serve(contentType);
      expect([status, headers.get('content-type')]).toEqual([200, contentType]);
      expect(headers.get('content-disposition')).toBeNull();
    });
  });

  describe('a browser saves', () => {
    test.each([
      'text/html',
      'text/html; charset=utf-8',
      'text/html;charset=x',
      'TEXT/HTML',
      'application/xhtml+xml',
      'Application/XHTML+XML; charset=utf-8',
      'image/svg+xml',
      'IMAGE/SVG+XML; charset=utf-8',
      'image/svg',
      'image/svg-xml',
      'text/xml',
      'application/xml',
      'application/rss+xml',
      'application/mathml+xml',
      'model/x3d+xml',
      'image/x-anything+xml',
      'video/x-anything+XML',
      'text/xsl',
      'application/xslt+xml',
      'text/javascript',
      'application/javascript',
      'application/x-javascript',
      'text/ecmascript',
      'application/ecmascript',
      'application/json',
      'text/css',
      'text/vtt',
      'text/plain+html',
      'multipart/x-mixed-replace; boundary=x',
      'multipart/related',
      'message/rfc822',
      'application/pdf',
      'application/wasm',
      'application/x-shockwave-flash',
      'application/octet-stream',
      'application/x-unheard-of',
      // If a header contains two types, browsers use the last.
      'image/png, text/html',
      'image/png;,text/html',
      'text/plain; x=","; charset=utf-8',
    ])('%s', async (contentType) => {
      const { status, headers } = await serve(contentType);
      expect(status).toBe(200);
      expect(headers.get('content-disposition')).toMatch(/^attachment\b/);
    });

    test('a file without a type, regardless of the type at the upload', async () => {
      const { status, headers } = await serve(undefined, 'text/html');
      expect(status).toBe(200);
      expect(headers.get('content-disposition')).toMatch(/^attachment\b/);
    });

    test('a part of a file', async () => {
      const { status, headers } = await serve('text/html', 'text/html', { range: 'bytes=0-3' });
      expect(status).toBe(206);
      expect(headers.get('content-disposition')).toMatch(/^attachment\b/);
    });
  });

  test('a URL cannot turn an attachment into an inline response', async () => {
    const address = await addressOf('text/html', 'text/html');
    const changes: ((url: URL) => void)[] = [
      (url) => url.searchParams.delete('response-content-disposition'),
      (url) => url.searchParams.set('response-content-disposition', 'inline'),
      (url) => url.searchParams.append('response-content-disposition', 'inline'),
      (url) => url.searchParams.set('response-content-type', 'image/png'),
      (url) => url.searchParams.set('type', 'image/png'),
    ];
    for (const change of changes) {
      const url = new URL(address);
      change(url);
      const response = await fetch(url);
      await response.bytes();
      if (url.href === address) continue;
      expect(response.status).toBe(403);
    }
  });

  async function addressOf(contentType: string | undefined, uploadedAs: string): Promise<string> {
    const key = `${rig.folder()}a`;
    await rig.objects.put(key, Buffer.from('<script>alert(1)</script>'), { contentType: uploadedAs });
    return rig.objects.readAddress(key, { expiresInS: 60, contentType });
  }

  async function serve(
    contentType: string | undefined,
    uploadedAs = contentType ?? 'application/octet-stream',
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const response = await fetch(await addressOf(contentType, uploadedAs), { headers });
    await response.bytes();
    return response;
  }
}
