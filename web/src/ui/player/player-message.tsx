import type { ApiFailure, Waiting } from '../../api/index.ts';
import type { Texts } from '../../lib/index.ts';
import { usePage } from '../context.ts';
import { Button, NextTry } from '../controls/index.ts';
import { type FailureText, streamFailureText } from '../failure-text.ts';

/** Why nothing plays. */
export type PlaybackProblem = Waiting | ApiFailure | 'unsupported' | 'interrupted';

export interface PlayerMessageProps {
  readonly problem: PlaybackProblem;
  /** The page that it is from. */
  readonly link: string | null;
  readonly onRetry: () => void;
}

/** Explains over the player why nothing plays. */
export const PlayerMessage = ({ problem, link, onRetry }: PlayerMessageProps) => {
  const { texts } = usePage();
  const { title, what } = textOf(texts, problem, link);
  return (
    <div class="player-message">
      <div role="alert">
        <p>
          <strong>{title}</strong>
        </p>
        {what && <p>{what}</p>}
      </div>
      {isWaiting(problem) && <NextTry waiting={problem} />}
      {!isWaiting(problem) && problem !== 'unsupported' && (
        <Button look="small" icon="retry" onClick={onRetry}>
          {texts.t('action.retry')}
        </Button>
      )}
    </div>
  );
};

const isWaiting = (problem: PlaybackProblem): problem is Waiting => typeof problem === 'object' && 'reason' in problem;

function textOf(texts: Texts, problem: PlaybackProblem, link: string | null): Partial<FailureText> {
  if (typeof problem === 'string') return { title: texts.t(`player.${problem}`) };
  if (!isWaiting(problem)) return streamFailureText(texts, problem, link ?? undefined);
  return { title: texts.t(`waiting.${problem.reason}`), what: texts.t(`waiting.${problem.reason}.what`) };
}
