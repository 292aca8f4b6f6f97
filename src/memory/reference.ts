/** The texts of the memory service's API reference (docs/specification/memory.md). */
import { defineReference } from '#platform/http/apireference.ts';
import { memoryProblems } from './problems.ts';

const user = { entity_id: '5b1c1f0e-8a4d-4f0f-8f57-0f4c0b9b8a21', entity_type: 'user' };
const content = 'Prefers watercolor over oil.';
const adding = ['memory_full', 'embedder_unavailable'] as const;
const editing = ['not_found', 'duplicate_memory', ...adding] as const;
const gone = { 204: ['The memory was deleted.'] } as const;
const erased = { 204: ['Nothing is stored about the entity any more.'] } as const;

export const memoryReference = defineReference({
  description:
    'Stores facts about users and groups, merges near-duplicates, and returns the relevant ones for a message.',
  tags: {
    memory: 'Memories of users and groups.',
    admin: 'The admin API for operators. Every change is recorded in the audit log.',
  },
  problems: memoryProblems.table,
  operations: {
    'POST /inject': {
      id: 'inject',
      description:
        'Returns the profile, the profile of the group, and the memories that fit the query. Call it before each turn of a conversation.',
      problems: ['forbidden'],
      example: { ...user, query: 'Draw me a harbor.' },
    },
    'POST /memory/add': {
      id: 'addMemory',
      description:
        'Stores a memory (201). If an existing memory is a near-duplicate, the two are merged (200), and `id` names the one that remains.',
      problems: ['forbidden', ...adding],
      example: { ...user, content, type: 'preference' },
    },
    'POST /memory/search': {
      id: 'searchMemories',
      description: 'Returns the memories that are most similar to the query, best first.',
      problems: ['forbidden'],
      example: { ...user, query: 'painting style', limit: 5 },
    },
    'PUT /memory/:id': {
      id: 'editMemory',
      description: 'Changes the content, the type or the metadata. The former content stays in the history.',
      problems: ['forbidden', ...editing],
      example: { content: 'Prefers gouache over oil.' },
    },
    'DELETE /memory/:id': {
      id: 'deleteMemory',
      description: 'Deletes a memory with its history and links.',
      problems: ['forbidden', 'not_found'],
      responses: gone,
    },
    'POST /memory/extract': {
      id: 'extractMemories',
      description:
        'A language model finds facts in the messages. They are stored in the same way as by `POST /memory/add`. The headers `X-Model`, `X-Input-Tokens` and `X-Output-Tokens` describe the call.',
      problems: ['forbidden', 'model_calls_used_up', 'model_unavailable', ...adding],
      example: { ...user, messages: [{ role: 'user', content: 'I paint in watercolor, never in oil.' }] },
    },
    'GET /memories': {
      id: 'listMemories',
      description: 'Returns a page of memories. Replaced ones are listed only with `include_invalid=true`.',
      problems: ['forbidden'],
    },
    'GET /memory/:id': { id: 'readMemory', description: 'Returns a memory.', problems: ['forbidden', 'not_found'] },
    'GET /export': {
      id: 'exportMemories',
      description: 'Returns the profile and all memories with their history. It returns 404 if nothing is stored.',
      problems: ['forbidden', 'not_found'],
    },
    'DELETE /entities/:entity_type/:entity_id': {
      id: 'eraseEntity',
      description: 'Erases all memories, the profile and the history of an entity. You can repeat the request.',
      problems: ['forbidden'],
      responses: erased,
    },
    'GET /admin/memories': {
      id: 'adminListMemories',
      description: 'Returns a page of memories of all entities, with filters.',
    },
    'POST /admin/memories': {
      id: 'adminAddMemory',
      description: 'Stores a memory (201) or merges it into an existing one (200).',
      problems: adding,
      example: { ...user, content, type: 'preference' },
    },
    'GET /admin/memories/:id': {
      id: 'adminReadMemory',
      description: 'Returns a memory and its links to others.',
      problems: ['not_found'],
    },
    'PUT /admin/memories/:id': {
      id: 'adminEditMemory',
      description: 'Changes a memory. The former content stays in the history.',
      problems: editing,
      example: { content: 'Prefers gouache over oil.' },
    },
    'DELETE /admin/memories/:id': {
      id: 'adminDeleteMemory',
      description: 'Deletes a memory with its history and links.',
      problems: ['not_found'],
      responses: gone,
    },
    'GET /admin/memories/:id/history': {
      id: 'adminReadHistory',
      description: 'Returns the merges, edits and replacements of a memory, newest first.',
      problems: ['not_found'],
    },
    'POST /admin/memories/:id/undo': {
      id: 'adminUndoChange',
      description: 'Reverts the newest change that is not undone. Undoing a merge restores both memories.',
      problems: ['nothing_to_undo', ...editing],
    },
    'GET /admin/profiles': { id: 'adminListProfiles', description: 'Returns a page of profiles.' },
    'GET /admin/profiles/:entity_type/:entity_id': {
      id: 'adminReadProfile',
      description: 'Returns a profile, with the memories that its facts are derived from.',
      problems: ['not_found'],
    },
    'PUT /admin/profiles/:entity_type/:entity_id': {
      id: 'adminWriteProfile',
      description: 'Writes the summary, the facts or the language. Written facts are locked.',
      problems: ['not_found'],
      example: { summary: 'A painter.', facts: { medium: 'watercolor' } },
    },
    'DELETE /admin/profiles/:entity_type/:entity_id': {
      id: 'adminDeleteProfile',
      description: 'Deletes a profile. The memories stay.',
      problems: ['not_found'],
      responses: { 204: ['The profile was deleted.'] },
    },
    'DELETE /admin/entities/:entity_type/:entity_id': {
      id: 'adminEraseEntity',
      description: 'Erases all memories, the profile and the history of an entity.',
      responses: erased,
    },
    'GET /admin/entities/:entity_type/:entity_id/export': {
      id: 'adminExportEntity',
      description: 'Returns the profile and all memories with their history.',
      problems: ['not_found'],
    },
  },
});
