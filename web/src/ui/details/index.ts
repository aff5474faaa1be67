export { ItemDetails, type ItemDetailsProps } from './item-details.tsx';
export type { Chapter, SubtitleInformation } from './media-details.ts';
export { sizeName, subtitleName, useDetails, useSegments, versionName } from './use-details.ts';
