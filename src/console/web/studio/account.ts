/** What the user may spend, and on which models. */
import type { CreditsState } from '../../../client/agent/api.ts';
import { useModels } from '../create/order.ts';
import { useStored } from '../shell/browser.ts';
import { useOwn } from '../user.tsx';

/** Read again when `GET /events` reports a change. */
export const useCredits = () => useOwn<CreditsState>(['credits'], 'agent', '/credits').data;

export type ModelChoice = ReturnType<typeof useModelChoice>;

/** The choice is stored in this browser. A model that the plan does not include is never chosen. */
export function useModelChoice() {
  const [id, choose] = useStored('atelier.model');
  const models = useModels('chat');
  const allowed = models.filter((model) => model.allowed);
  return {
    models,
    chosen: allowed.find((model) => model.id === id) ?? allowed.find((model) => model.default) ?? allowed[0],
    choose,
  };
}
