/** The vocabulary of the content service. Generated from its OpenAPI document by `npm run generate`. */

export interface PublicGalleryListing {
  readonly kind?: 'image' | 'video' | null;
  readonly shape?: 'wide' | 'tall' | 'square' | null;
  /** `remixed`: of the newest 1000, those that most people have made something from. One page. Default: `newest`. */
  readonly sort?: 'newest' | 'remixed' | null;
  /** Its first 10 words must occur in the author or in a prompt that is shown. */
  readonly q?: string | null;
  /** 1 to 100. Default: 50. */
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | null;
}

export interface PublicGallery {
  /** Newest or most remixed first. */
  readonly items: readonly {
    readonly assetId: string;
    readonly kind: 'image' | 'video';
    readonly width: number | null;
    readonly height: number | null;
    readonly blurhash: string | null;
    readonly generated: 'ai' | 'edited' | null;
    /** `null`: unknown, or not shared. */
    readonly prompt: string | null;
    readonly thumbUrl: string | null;
    readonly previewUrl: string | null;
    /** The name that the owner has chosen for this asset. `null`: none. */
    readonly author: string | null;
    /** The other users who have made something from it. */
    readonly remixes: number;
    readonly publishedAt: string;
  }[];
  /** `null`: this was the last page. */
  readonly next_cursor: string | null;
}

export interface UserSitemap {
  readonly users: readonly { readonly id: string; readonly updated_at: string }[];
}

export interface FeedSitemap {
  readonly feeds: readonly { readonly id: string; readonly updated_at: string }[];
}

export interface SitemapPage {
  /** The last id of the previous page. */ readonly after?: string;
}

export interface Announcement {
  /** The same as `title`, for older clients. */ readonly announcement: string;
  readonly url: string;
  readonly visible: boolean;
  /** In the language of the reader. Empty if there is none. */
  readonly title: string;
  /** In the language of the reader. Empty if there is none. */
  readonly description: string;
  /** In the language of the reader. Empty if there is none. */
  readonly imageUrl: string;
}

export interface HomeCards {
  readonly cards: readonly HomeCard[];
  readonly featuredCardIds: readonly string[];
}

export interface Trending {
  readonly items: readonly {
    /** In the language of the reader. Empty if there is none. */ readonly title: string;
    readonly coverType: 'image' | 'video';
    /** The video when `coverType` is `video`, the image otherwise. */
    readonly cover: string;
    /** In the language of the reader. Empty if there is none. */
    readonly url: string;
  }[];
}

export interface UnsubscribeLink {
  readonly token?: string;
}

export interface HomeCard {
  readonly id: string;
  readonly coverType: 'image' | 'video';
  /** In the language of the reader. Empty if there is none. */
  readonly image: string;
  /** In the language of the reader. Empty if there is none. */
  readonly coverVideo: string;
  readonly arcadeLink: string;
  readonly mobileArcadeLink: string;
  readonly requiredPlan: 'free' | 'basic' | 'basic_year' | 'pro' | 'pro_year' | 'max' | 'max_year';
  /** In the language of the reader. Empty if there is none. */
  readonly title: string;
  /** In the language of the reader. Empty if there is none. */
  readonly description: string;
  /** In the language of the reader. Empty if there is none. */
  readonly prompt: string;
  readonly isFeatured: boolean;
  readonly model: 'lite' | 'nova' | 'ultra';
  readonly ratio: 'auto' | '1:1' | '4:3' | '3:4' | '16:9' | '9:16';
  readonly mediaType: 'image' | 'video';
  readonly inputMedias: readonly { readonly type: 'image' | 'video'; readonly url: string }[];
}
