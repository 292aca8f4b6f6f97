import { StartFault } from '#platform/lifecycle.ts';
import { post, printStep } from './calls.ts';

/** Stores the same fact twice and recalls it in other words. */
export async function rememberAndRecall(memory: string, token: string, userId: string): Promise<void> {
  const user = { entity_id: userId, entity_type: 'user' };
  for (const content of ['I like images with warm evening light', 'I like images with very warm evening light.']) {
    const added = await post(`${memory}/memory/add`, { token }, { ...user, content, type: 'preference' });
    printStep(
      'Remember',
      `${content} (${added.deduplicated ? 'already known' : 'new'})`,
      `${memory}/memory/${added.id}`,
    );
  }
  const query = 'Which light should the image have?';
  const { memories } = await post(`${memory}/inject`, { token }, { ...user, query, limit: 1 });
  const [found] = memories as readonly { readonly content: string; readonly score: number }[];
  if (found === undefined) throw new StartFault(`No memory was recalled for: ${query}`);
  printStep('Recall', `${query} → ${found.content} (score ${found.score.toFixed(2)})`, `${memory}/inject`);
}
