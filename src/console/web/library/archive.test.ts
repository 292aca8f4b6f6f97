import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { downloadZip } from 'client-zip';
import { expect, it, vi } from 'vitest';

vi.mock('../shell/notices.ts', () => ({ notify: vi.fn() }));
vi.mock('./downloading.ts', () => ({ fileNameOf: vi.fn(), signDownload: vi.fn() }));
const { uniqueNames } = await import('./archive.ts');

it('writes archives that another program reads, with names in any script', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'archive-'));
  try {
    const texts = { 'a.txt': 'lighthouse', 'Bär, 灯台.txt': '', 'large.bin': 'x'.repeat(300_000) };
    const files = Object.entries(texts).map(([name, text]) => ({
      ...{ name, lastModified: new Date(2026, 10, 27, 13, 45, 30), input: new Blob([text]) },
    }));
    const path = join(folder, 'files.zip');
    writeFileSync(path, new Uint8Array(await downloadZip(files).arrayBuffer()));
    // Python checks the directory, both headers of each file, and the checksums.
    const script = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    archive.extractall(sys.argv[2])
    print(archive.infolist()[0].date_time)`;
    const { status, stdout, stderr } = spawnSync('python3', ['-c', script, path, folder], { encoding: 'utf8' });
    expect([status, stderr, stdout.trim()]).toEqual([0, '', '(2026, 11, 27, 13, 45, 30)']);
    for (const [name, text] of Object.entries(texts)) expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('gives files with the same name different ones', () => {
  expect(uniqueNames(['a.jpg', 'A.jpg', 'a.jpg', 'b', 'b', '.env'])).toEqual([
    ...['a.jpg', 'A (2).jpg', 'a (3).jpg', 'b', 'b (2)', '.env'],
  ]);
});
