import type { ApiFailure, Waiting } from '../../api/index.ts';
import { usePage } from '../context.ts';
import { Button, type IconName } from '../controls.tsx';
import { failureText, isWorthRetrying, progressText } from '../failure-text.ts';
import { Item } from '../item/index.ts';
import { NextTry } from '../next-try.tsx';
import { Playlist } from '../playlist/index.ts';
import { nameOf, type Outcome } from '../session.ts';
import { Notice } from './notice.tsx';

/** A waiting or failure notice, or the item, playlist or batch of links. */
export const ShownResult = ({ outcome }: { readonly outcome: Outcome }) => {
  switch (outcome.phase) {
    case 'idle':
      return null;
    case 'resolving':
      return outcome.waiting ? <WaitingNotice waiting={outcome.waiting} /> : null;
    case 'failed':
      return <FailureNotice {...outcome} />;
    case 'batch':
      return <Playlist key={outcome.links.join('\n')} resource={outcome.resource} />;
    case 'resolved': {
      const { link, resource } = outcome;
      const [first, second] = resource.mediaItems;
      return resource.type === 'PlayList' || second || !first ? (
        <Playlist key={nameOf(outcome)} resource={resource} link={link} />
      ) : (
        <Item key={link} item={first} />
      );
    }
  }
};

const ICONS: Readonly<Partial<Record<ApiFailure['kind'], IconName>>> = {
  'bad-link': 'link',
  'not-found': 'search',
  refused: 'lock',
  offline: 'offline',
  unreachable: 'offline',
  maintenance: 'clock',
  'too-many': 'clock',
};

/** A failure with its explanation and a retry button. */
const FailureNotice = ({ failure, link, offset }: Extract<Outcome, { phase: 'failed' }>) => {
  const { texts, session } = usePage();
  return (
    <Notice
      look="bad"
      icon={ICONS[failure.kind] ?? 'alert'}
      {...failureText(texts, failure, link)}
      onRetry={isWorthRetrying(failure) ? () => session.open(link, offset) : undefined}
    />
  );
};

/** The reason why a link waits, with progress and countdown. */
const WaitingNotice = ({ waiting }: { readonly waiting: Waiting }) => {
  const { t, texts } = usePage();
  const { reason, progress } = waiting;
  return (
    <Notice look="waiting" icon="clock" title={t(`waiting.${reason}`)} what={t(`waiting.${reason}.what`)}>
      {progress && <p class="figures">{progressText(texts, progress)}</p>}
      {/* With a key: an element that has had a value keeps it. */}
      <progress
        key={`${progress?.step} ${progress?.tool} ${progress?.totalBytes}`}
        aria-label={t(`waiting.${reason}`)}
        max={progress?.totalBytes}
        value={progress?.totalBytes && progress.receivedBytes}
      />
      <div class="row notice-actions">
        <Button look="" onClick={() => location.assign('./')}>
          {t('action.cancel')}
        </Button>
        <p class="notice-countdown">
          <NextTry waiting={waiting} />
        </p>
      </div>
    </Notice>
  );
};
