/** The API's objects as its contract describes them; test/web/lib/contract.test.ts holds them to the service's own. */

export interface AppInfo {
  version: string | null;
  isHealthy: boolean;
  environment: string | null;
  /** What is going on, while there is a maintenance. */
  maintenance?: string | null;
}

export interface ResourceInformation {
  type: 'Media' | 'PlayList' | 'Unknown';
  title?: string | null;
  author?: string | null;
  coverUrl?: string | null;
  mediaItems: MediaInformation[];
}

export interface MediaInformation {
  requestedUrl: string | null;
  video?: StreamReference;
  audio?: StreamReference;
  coverUrl: string | null;
  title: string | null;
  author: string | null;
}

export interface StreamReference {
  bestQualityDescription?: string | null;
  bestQualityKey?: string | null;
  bestQualityFileExtension?: string | null;
  bestQualityMimeType?: string | null;
  mediumQualityDescription?: string | null;
  mediumQualityKey?: string | null;
  mediumQualityFileExtension?: string | null;
  mediumQualityMimeType?: string | null;
  worstQualityDescription?: string | null;
  worstQualityKey?: string | null;
  worstQualityFileExtension?: string | null;
  worstQualityMimeType?: string | null;
  urlType?: 'Combined' | 'Media';
  renditions?: MediaRendition[];
}

export interface MediaRendition {
  key: string | null;
  label: string | null;
  description?: string | null;
  /** With a leading dot. */
  fileExtension: string | null;
  mimeType: string | null;
  urlType?: 'Combined' | 'Media';
  /** Bytes. */
  fileSizeBytes?: number | null;
  /** Pixels. */
  height?: number | null;
  /** kbit/s. */
  bitrate?: number | null;
  /** Goes back as `?format=`. */
  convertTo?: string | null;
}
