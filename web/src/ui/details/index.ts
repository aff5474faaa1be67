export { ItemDetails, type ItemDetailsProps } from './item-details.tsx';
export type { Chapter, SubtitleInformation } from './media-details.ts';
export { languageName, subtitleName, useDetails } from './use-details.ts';
