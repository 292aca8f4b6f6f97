/** The licenses of the packages in the lockfile, and which are allowed. */

/** An entry of package-lock.json. */
interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  /** Only development needs it. */
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

export interface LicensedPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  readonly isShipped: boolean;
}

const permissive = [
  'MIT',
  'MIT-0',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'PSF-2.0',
  'Unlicense',
];
/** For packages that are not part of the product. */
const allowedInDevelopment = ['MPL-2.0'];
/** Libraries of their own, which users can replace: the image codecs. Fonts, which the program only reads. */
const allowedForPackage: readonly { readonly name: RegExp; readonly licenses: readonly string[] }[] = [
  { name: /^@img\/sharp-[\w-]+$/, licenses: ['LGPL-3.0-or-later'] },
  { name: /^libheif-js$/, licenses: ['LGPL-3.0'] },
  { name: /^@fontsource\//, licenses: ['OFL-1.1'] },
];
/** Packages whose license is missing in the lockfile. Their readme has it. */
const licenseOfReadme: Readonly<Record<string, string>> = { 'combine-errors': 'MIT', format: 'MIT' };

/** Packages that are installed several times are listed once for each version. */
export function licensedPackages(locked: LockedPackages): readonly LicensedPackage[] {
  const found = Object.entries(locked).flatMap(([path, entry]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (path === '') return [];
    const { version = '', license = licenseOfReadme[name] ?? 'none', dev = false, devOptional = false } = entry;
    return [{ name, version, license, isShipped: !dev && !devOptional }];
  });
  const byId = new Map<string, LicensedPackage>();
  for (const each of found) {
    const id = `${each.name}@${each.version}`;
    byId.set(id, byId.get(id)?.isShipped ? { ...each, isShipped: true } : each);
  }
  return [...byId.values()];
}

export function isAllowed({ name, license, isShipped }: LicensedPackage): boolean {
  const more = allowedForPackage.filter((rule) => rule.name.test(name)).flatMap((rule) => rule.licenses);
  const allowed = [...permissive, ...more, ...(isShipped ? [] : allowedInDevelopment)];
  // SPDX: one side of OR is enough, AND needs both and binds tighter.
  return license
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((id) => allowed.includes(id)));
}
