import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { MediaContext } from '../context.ts';
import { trashChange, trashChanged } from './api.ts';
import { changeTrash } from './trash.ts';

export function addTrashRoutes(app: HttpServer, access: Access, deps: MediaContext): void {
  routesOf(app, 'media').post(
    '/v1/trash',
    access.userOrInternal,
    {
      id: 'changeTrash',
      summary: 'Move assets to the trash, or restore them',
      description:
        'Moves up to 1000 assets of the owner to the trash, or restores them. Assets in the trash are deleted after 30 days. You can repeat the request.',
      problems: ['forbidden', 'not_found'],
      example: { ids: ['0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11'], trashed: true },
      client: { body: 'TrashChange', answer: 'TrashChanged', repeatable: true },
      body: trashChange,
      response: { 200: trashChanged },
    },
    async ({ caller, body }) => changeTrash(deps, caller, body),
  );
}
