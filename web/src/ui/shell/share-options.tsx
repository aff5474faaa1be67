import { bookmarklet } from '../../lib/index.ts';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';
import { InstallButton } from './install-button.tsx';

/** Other ways to open a link: drag and drop, bookmarklet, share target. */
export const ShareOptions = () => {
  const { t } = usePage().texts;
  return (
    <details class="more-ways">
      <summary>{t('ways.title')}</summary>
      <ul class="share-options">
        <li class="drop">
          <Icon name="link" />
          <p>{t('ways.drop')}</p>
        </li>
        <li>
          <Icon name="bookmark" />
          <p>
            <Bookmarklet /> {t('ways.bookmarklet')}{' '}
            <CopyButton text={bookmarklet(location.origin)} label={t('ways.bookmarklet.copy')} />
          </p>
        </li>
        <li>
          <Icon name="share" />
          <p>
            {t('ways.share')} <InstallButton />
          </p>
        </li>
      </ul>
    </details>
  );
};

/** For dragging only: a click would open this page on itself. Keyboard users copy its address instead. */
const Bookmarklet = () => (
  <a class="bookmarklet" tabIndex={-1} href={bookmarklet(location.origin)} onClick={(event) => event.preventDefault()}>
    {usePage().texts.t('ways.bookmarklet.name')}
  </a>
);
