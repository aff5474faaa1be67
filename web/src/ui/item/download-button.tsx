import type { HistoryItem } from '../../lib/index.ts';
import type { Choice } from '../../renditions/index.ts';
import { useObservable, usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';
import { sizeName } from '../details/index.ts';

export interface DownloadButtonProps {
  readonly choice: Choice;
  readonly item: HistoryItem;
}

const LOOKS = {
  opening: { icon: 'download', text: 'downloads.connecting' },
  failed: { icon: 'retry', text: 'action.failed' },
} as const;

/** Hands a choice over to the browser. */
export const DownloadButton = ({ choice, item }: DownloadButtonProps) => {
  const { texts, format, downloads } = usePage();
  const { t } = texts;
  const { label, container } = choice;
  const file = downloads.fileOf(choice);
  const state = useObservable(downloads.states).get(file.url);
  const look = state && state.phase !== 'started' ? LOOKS[state.phase] : undefined;
  const size = sizeName(choice, texts, format);
  // One button for all of it, so that it keeps the focus.
  return (
    <button
      type="button"
      class={`button primary ${state?.phase ?? ''}`}
      aria-disabled={state?.phase === 'opening'}
      onClick={() => void downloads.start(file, item)}
    >
      {look ? (
        <>
          <Icon name={look.icon} />
          {t(look.text)}
          <span class="visually-hidden">{label}</span>
        </>
      ) : (
        <>
          <Icon name="download" />
          <span>
            {t(state ? 'action.downloadAgain' : 'action.downloadNamed', { label })}
            {size && (
              <span class="size">
                {' · '}
                <bdi>{size}</bdi>
              </span>
            )}
          </span>
          {container !== label && <span class="visually-hidden">{container}</span>}
        </>
      )}
    </button>
  );
};
