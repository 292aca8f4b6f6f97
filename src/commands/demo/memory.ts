import { StartFault } from '#platform/lifecycle.ts';
import { post, tell } from './calls.ts';

/** Says something twice, and asks for it in other words. */
export async function rememberAndRecall(memory: string, token: string, userId: string): Promise<void> {
  const user = { entity_id: userId, entity_type: 'user' };
  for (const content of ['I like pictures with warm evening light', 'I like pictures with very warm evening light.']) {
    const added = await post(`${memory}/memory/add`, { token }, { ...user, content, type: 'preference' });
    tell('Remember', `${content} (${added.deduplicated ? 'known already' : 'new'})`, `${memory}/memory/${added.id}`);
  }
  const query = 'Which light should the picture have?';
  const { memories } = await post(`${memory}/inject`, { token }, { ...user, query, limit: 1 });
  const [found] = memories as readonly { readonly content: string; readonly score: number }[];
  if (found === undefined) throw new StartFault(`Nothing was recalled for: ${query}`);
  tell('Recall', `${query} → ${found.content} (score ${found.score.toFixed(2)})`, `${memory}/inject`);
}
