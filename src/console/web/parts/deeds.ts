import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { notify } from '../shell/notices.ts';

/**
 * Something that an operator does. A sentence that `work` returns is shown as a notice. Then everything whose key begins with one of
 * `rereads` is read again, also after a failure, which can have changed a part.
 */
export function useDeed<Argument = void>(
  work: (argument: Argument) => Promise<unknown>,
  ...rereads: readonly QueryKey[]
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (argument: Argument) => {
      const done = await work(argument);
      if (typeof done === 'string') notify(done);
    },
    onSettled: () => Promise.all(rereads.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
}
