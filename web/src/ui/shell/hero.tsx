import { usePage } from '../context.ts';
import { LinkField, type LinkFieldProps } from './link-field.tsx';

export interface HeroProps extends LinkFieldProps {
  /** Above a result: the field alone. */
  readonly isSmall: boolean;
}

/** The headline and the field. */
export const Hero = ({ isSmall, ...field }: HeroProps) => {
  const { t } = usePage().texts;
  return (
    <div class={isSmall ? 'hero small' : 'hero'}>
      <h1>{t('app.headline')}</h1>
      <p class="lede">{t('app.lede')}</p>
      <LinkField {...field} />
    </div>
  );
};
