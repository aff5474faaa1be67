export { type Info, infoList, isInfo, isList, isResolvedEntry, text, webUrl } from './info.ts';
export { type ExtractedInfo, InvalidExtraction, parseExtraction, readExtraction } from './read-extraction.ts';
