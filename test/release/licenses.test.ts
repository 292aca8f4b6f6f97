import { describe, expect, it } from 'vitest';
import { isAllowed, type LicensedPackage, licensedPackages } from '../../tools/licenses/licenses.ts';

const made = (more: Partial<LicensedPackage>): LicensedPackage => ({
  name: 'a',
  version: '1.0.0',
  license: 'MIT',
  isShipped: true,
  ...more,
});

describe('a license', () => {
  it.each<[boolean, Partial<LicensedPackage>]>([
    [true, { license: 'MIT' }],
    [true, { license: 'Apache-2.0' }],
    [true, { license: '(AFL-2.1 OR BSD-3-Clause)' }],
    [true, { license: 'MIT AND Apache-2.0' }],
    [true, { license: 'MPL-2.0', isShipped: false }],
    [true, { license: 'LGPL-3.0-or-later', name: '@img/sharp-libvips-linux-x64' }],
    [true, { license: 'Apache-2.0 AND LGPL-3.0-or-later AND MIT', name: '@img/sharp-wasm32' }],
    [true, { license: 'LGPL-3.0', name: 'libheif-js' }],
    [false, { license: 'MPL-2.0' }],
    [false, { license: 'LGPL-3.0-or-later' }],
    [false, { license: 'MIT AND GPL-3.0-only' }],
    [false, { license: 'AGPL-3.0-only', isShipped: false }],
    [false, { license: 'UNLICENSED' }],
    [false, { license: 'none' }],
  ])('is allowed: %s for %o', (allowed, more) => {
    expect(isAllowed(made(more))).toBe(allowed);
  });
});

describe('the packages of a lockfile', () => {
  it('list shipped and development packages, each version once', () => {
    const locked = {
      '': { version: '1.0.0', license: 'MIT' },
      'node_modules/a': { version: '1.0.0', license: 'MIT' },
      'node_modules/b/node_modules/a': { version: '1.0.0', license: 'MIT', dev: true },
      'node_modules/b': { version: '2.0.0', license: 'ISC', dev: true },
      'node_modules/@s/c': { version: '3.0.0' },
    };
    expect(licensedPackages(locked)).toEqual([
      made({}),
      made({ name: 'b', version: '2.0.0', license: 'ISC', isShipped: false }),
      made({ name: '@s/c', version: '3.0.0', license: 'none' }),
    ]);
  });
});
