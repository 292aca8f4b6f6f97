/** The Content page: where the public content comes from, and the documents of the local CMS, which operators edit (docs/content.md). */
import { randomUUID } from 'node:crypto';
import { readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { auditOf, recordAction } from '#platform/audit/audit.ts';
import { holdName, transaction } from '#platform/db/db.ts';
import type { Routes } from '#platform/http/routes.ts';
import { etagOf } from '#platform/http/validators.ts';
import { parseJson } from '#platform/json.ts';
import { invalid } from '#platform/problem.ts';
import type { ConsoleContext } from './context.ts';
import { type OperatorGuard, operatorName } from './operators/guard.ts';
import { consoleProblems } from './problems.ts';

/** Each is compared with all others, and a change names each. */
const entries = z.array(z.record(z.string(), z.json())).max(500);
const kinds = {
  announcements: z.looseObject({ visible: z.boolean() }),
  'home-cards-v2': z.looseObject({ cards: entries, featuredCardIds: z.array(z.string()).optional() }),
  trending: z.looseObject({ items: entries }),
};
const document = z.union(Object.values(kinds));
const documentName = z.enum(['announcements', 'home-cards-v2', 'trending']);
export type DocumentName = z.output<typeof documentName>;

const change = z.object({ version: z.string(), content: document });

interface StoredDocument {
  /** `null`: the file is not a document of this kind. */
  readonly content: z.output<typeof document> | null;
  /** Send it with a change. */
  readonly version: string;
  /** `null`: it is the sample of the local CMS. */
  readonly changedAt: string | null;
}
export interface ContentSource {
  /** The host of CMS_URL. `null`: the local CMS. */
  readonly cms: string | null;
  /** CMS_EDIT_URL. */
  readonly editUrl: string | null;
  /** Those that operators can edit here. */
  readonly documents: Readonly<Partial<Record<DocumentName, StoredDocument>>>;
}

type Entry = Readonly<Record<string, unknown>>;
const nouns = { announcements: 'the announcement', 'home-cards-v2': 'the idea', trending: 'the trending link' };
const longestTitle = 80;

/** Such as `changed the prompt of the idea “Paper city”`. Of several entries that differ, each is compared with that in its place. */
function describeChange(name: DocumentName, before: Entry, after: Entry): string {
  const [old, now] = [before, after].map((all) => (all.cards ?? all.items ?? [all]) as Entry[]) as [Entry[], Entry[]];
  const missingIn = (others: Entry[]) => (one: Entry) => !others.some((other) => isDeepStrictEqual(one, other));
  const [gone, come] = [old.filter(missingIn(now)), now.filter(missingIn(old))];
  const nameOf = ({ title_en }: Entry) =>
    title_en ? `${nouns[name]} “${String(title_en).slice(0, longestTitle)}”` : nouns[name];
  const compare = (one: Entry | undefined, other: Entry | undefined) => {
    if (one === undefined || other === undefined)
      return one ? `removed ${nameOf(one)}` : `added ${nameOf(other ?? {})}`;
    const changed = Object.keys({ ...one, ...other }).filter((key) => !isDeepStrictEqual(one[key], other[key]));
    // Without the language.
    const fields = new Set(changed.map((key) => key.replace(/_[a-z]{2}(_[A-Z]{2})?$/, '')));
    const isSwitched = fields.delete('visible');
    const names = [...fields].join(', ');
    const texts = [...fields].map((field) => {
      const [old, now] = [one, other].map((entry) => entry[`${field}_en`] ?? entry[field]);
      const isShown =
        old !== now && [old, now].every((text) => typeof text === 'string' && text.length <= longestTitle);
      return isShown ? `; ${field}: “${old}” to “${now}”` : '';
    });
    if (!isSwitched) return `changed the ${names} of ${nameOf(other)}${texts.join('')}`;
    return `${other.visible ? 'showed' : 'hid'} ${nameOf(other)}${names && `, and changed its ${names}${texts.join('')}`}`;
  };
  const longer = come.length > gone.length ? come : gone;
  return longer.map((_one, at) => compare(gone[at], come[at])).join(', ') || `changed the order of ${nouns[name]}s`;
}

export function addContentRoutes(
  routes: Routes,
  guard: OperatorGuard,
  { db, cms: { folder, host, editUrl } }: Pick<ConsoleContext, 'db' | 'cms'>,
): void {
  const pathOf = (name: DocumentName) => join(folder ?? '', `${name}.json`);
  const read = async (name: DocumentName) => {
    const [text, { mtime }] = await Promise.all([readFile(pathOf(name), 'utf8'), stat(pathOf(name))]);
    const parsed = kinds[name].safeParse(parseJson(text));
    const changedAt = Number(mtime) === 0 ? null : mtime.toISOString();
    return [name, { content: parsed.data ?? null, version: etagOf(text), changedAt }] as const;
  };

  routes.get('/api/content', guard, {
    summary: 'Where the public content comes from',
    handler: async (): Promise<ContentSource> => {
      // Without a database, a change could not be recorded.
      const names = folder === undefined || db === undefined ? [] : documentName.options;
      const found = await Promise.all(names.map((name) => read(name).catch(() => [])));
      const documents = Object.fromEntries(found.filter((one) => one.length > 0));
      return { cms: host ?? null, editUrl: editUrl ?? null, documents };
    },
  });

  if (folder === undefined || db === undefined) return;
  routes.put('/api/content/:document', guard, {
    summary: 'Change a document of the local CMS',
    params: z.object({ document: documentName }),
    body: change,
    handler: async (request, reply) => {
      const { document: name } = request.params;
      const { version, content } = request.body;
      if (!kinds[name].safeParse(content).success) throw invalid('body.content', `must be a document of ${name}`);
      const [, shown] = await read(name).catch(() => []);
      const target = `content ${name} ${describeChange(name, shown?.content ?? {}, content)}`;
      const action = { actor: operatorName(request), action: 'PUT /api/content/:document', target };
      // A file is not part of a transaction. If the commit fails after it is renamed, this record stays.
      await recordAction(auditOf(db), { ...action, outcome: 'begun' });
      const isNewest = await transaction(db, async (tx) => {
        // The second of two changes at the same time sees the first.
        await holdName(tx, 'content');
        // A file that is gone has changed, too.
        const [, before] = await read(name).catch(() => []);
        const isSame = before?.version === version;
        await recordAction(auditOf(tx), { ...action, outcome: isSame ? 'done' : '409' });
        if (!isSame) return false;
        const staged = join(folder, `.${name}.${randomUUID()}`);
        await writeFile(staged, JSON.stringify(content, null, 2));
        await rename(staged, pathOf(name));
        return true;
      });
      if (!isNewest) throw consoleProblems.content_changed();
      return reply.code(204).send();
    },
  });
}
