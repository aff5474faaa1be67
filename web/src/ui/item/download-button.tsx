import { type Download, progressOf } from '../../download/index.ts';
import type { Choice } from '../../renditions/index.ts';
import { useObservable, usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';

export interface DownloadButtonProps {
  readonly choice: Choice;
}

/** Starts the download of a choice, then shows its progress and outcome. */
export const DownloadButton = ({ choice }: DownloadButtonProps) => {
  const { downloads } = usePage();
  const list = useObservable(downloads.list);
  const download = downloads.find(choice, list);
  return download ? <Progress download={download} choice={choice} /> : <Start choice={choice} />;
};

const Start = ({ choice }: DownloadButtonProps) => {
  const { texts, format, downloads } = usePage();
  const { t } = texts;
  const { label, container, sizeBytes } = choice;
  const size = sizeBytes === undefined ? '' : format.bytes(sizeBytes);
  return (
    <button type="button" class="button primary" onClick={() => downloads.start(choice)}>
      <Icon name="download" />
      <span>
        {t('action.downloadNamed', { label })}
        {size && (
          <span class="size">
            {' · '}
            <bdi>{size}</bdi>
          </span>
        )}
      </span>
      {container !== label && <span class="visually-hidden">{container}</span>}
    </button>
  );
};

const Progress = ({ download, choice }: { readonly download: Download; readonly choice: Choice }) => {
  const { texts, format, downloads } = usePage();
  const { t } = texts;
  const state = useObservable(download.state);
  const { phase } = state;
  if (phase === 'cancelled') return <Start choice={choice} />;
  const share = progressOf(state);
  const name = <span class="visually-hidden">{choice.label}</span>;
  if (phase === 'done')
    return (
      <button type="button" class="button primary saved" onClick={() => downloads.start(choice)}>
        <Icon name="check" />
        {t(state.isHandedOver ? 'action.handedOver' : 'action.saved')}
        <span class="visually-hidden">{t('action.downloadAgain', { label: choice.label })}</span>
      </button>
    );
  if (phase === 'failed')
    return (
      <button
        type="button"
        class="button primary failed"
        onClick={() => (state.canRetry ? download.resume() : downloads.start(choice))}
      >
        <Icon name="retry" />
        {t('action.failed')}
        {name}
      </button>
    );
  const received = state.receivedBytes > 0 ? format.bytes(state.receivedBytes) : t('downloads.connecting');
  return (
    <button
      type="button"
      class="button primary progress"
      style={{ '--share': `${(share ?? 0) * 100}%` }}
      onClick={() => downloads.isOpen.set(true)}
    >
      <Icon name={phase === 'paused' ? 'pause' : 'download'} />
      {share === undefined || phase === 'waiting' ? received : format.percent(share)}
      {name}
    </button>
  );
};
