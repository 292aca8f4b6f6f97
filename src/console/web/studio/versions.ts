/** The versions of a conversation that edits and other answers have made. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { UIMessage } from 'ai';
import { agentCalls } from '../../../client/agent/calls.ts';
import { notifyFailure } from '../shell/notices.ts';
import { useUser } from '../user.tsx';
import type { VersionsOf } from './message.tsx';

/** By the id of the message with which they begin. `onChosen` reads the conversation again. */
export function useVersions(
  threadId: string,
  stored: readonly UIMessage[],
  isAnswering: boolean,
  onChosen: () => Promise<unknown>,
): (messageId: string) => VersionsOf | undefined {
  const user = useUser();
  const queries = useQueryClient();
  const ofThread = ['versions', user.id, threadId];
  const { data } = useQuery({
    // A run that has ended may have made one.
    queryKey: [...ofThread, stored.length, stored.at(-1)?.id],
    queryFn: () => agentCalls(user.agent).listBranches(threadId),
    enabled: stored.length > 0 && !isAnswering,
    placeholderData: (previous) => previous,
    retry: false,
  });
  async function choose(branchId: string | null | undefined): Promise<void> {
    if (!branchId) return;
    try {
      await agentCalls(user.agent).chooseBranch(threadId, branchId);
    } catch (error) {
      notifyFailure(error as Error);
    }
    await onChosen();
    await queries.invalidateQueries({ queryKey: ofThread });
  }
  return (messageId) => {
    const branches = data?.forks.find((fork) => fork.messageId === messageId)?.branches;
    if (branches === undefined) return undefined;
    return {
      place: branches.findIndex(({ branchId }) => branchId === null) + 1,
      count: branches.length,
      choose: isAnswering ? undefined : (place) => void choose(branches[place - 1]?.branchId),
    };
  };
}
