import { bookmarklet, pagePath } from '../../lib/index.ts';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';

/** Other ways to open a link: drag and drop, bookmarklet, share target. */
export const ShareOptions = () => {
  const { t } = usePage().texts;
  const address = bookmarklet(location.origin + pagePath());
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
            {/* For dragging only: a click would open this page on itself. Keyboard users copy its address instead. */}
            <a class="bookmarklet" tabIndex={-1} href={address} onClick={(event) => event.preventDefault()}>
              {t('ways.bookmarklet.name')}
            </a>{' '}
            {t('ways.bookmarklet')} <CopyButton text={address} label={t('ways.bookmarklet.copy')} />
          </p>
        </li>
        <li>
          <Icon name="share" />
          <p>{t('ways.share')}</p>
        </li>
      </ul>
    </details>
  );
};
