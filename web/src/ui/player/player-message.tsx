import type { ApiFailure, Waiting } from '../../api/index.ts';
import type { Texts } from '../../lib/index.ts';
import { usePage } from '../context.ts';
import { Icon, NextTry } from '../controls/index.ts';
import { streamFailureText } from '../failure-text.ts';

/** Why nothing plays. */
export type PlaybackProblem =
  | { readonly kind: 'waiting'; readonly waiting: Waiting }
  | { readonly kind: 'failed'; readonly failure: ApiFailure }
  | { readonly kind: 'unsupported' | 'interrupted' };

export interface PlayerMessageProps {
  readonly problem: PlaybackProblem;
  /** The page that it is from. */
  readonly link: string | null;
  readonly onRetry: () => void;
}

/** Explains over the player why nothing plays. */
export const PlayerMessage = (props: PlayerMessageProps) => {
  const { problem, onRetry } = props;
  const { texts } = usePage();
  const { title, what } = textOf(texts, props);
  return (
    <div class="player-message">
      <div role="alert">
        <p>
          <strong>{title}</strong>
        </p>
        {what && <p>{what}</p>}
      </div>
      {problem.kind === 'waiting' && <NextTry waiting={problem.waiting} />}
      {(problem.kind === 'failed' || problem.kind === 'interrupted') && (
        <button type="button" class="button small" onClick={onRetry}>
          <Icon name="retry" />
          {texts.t('action.retry')}
        </button>
      )}
    </div>
  );
};

function textOf(texts: Texts, { problem, link }: PlayerMessageProps): { title: string; what?: string } {
  switch (problem.kind) {
    case 'waiting': {
      const { reason } = problem.waiting;
      return { title: texts.t(`waiting.${reason}`), what: texts.t(`waiting.${reason}.what`) };
    }
    case 'failed':
      return streamFailureText(texts, problem.failure, link ?? undefined);
    default:
      return { title: texts.t(`player.${problem.kind}`) };
  }
}
