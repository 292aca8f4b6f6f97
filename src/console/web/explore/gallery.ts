/** What everyone has published, and what the operators show, from the content service. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { Announcement, HomeCards, PublicGallery, Trending } from '../../../client/content/api.ts';
import { callJson } from '../calls.ts';
import { useConsole } from '../operator.tsx';

export type GalleryItem = PublicGallery['items'][number];

const useContentUrl = (): string | undefined => useConsole().data?.addresses.content;

export function useGallery(kind: '' | 'image' | 'video') {
  const url = useContentUrl();
  return useInfiniteQuery({
    queryKey: ['gallery', kind],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({
        limit: '48',
        ...(kind && { kind }),
        ...(pageParam && { cursor: pageParam }),
      });
      return callJson<PublicGallery>(`${url}/op/gallery?${query}`, { signal });
    },
    enabled: url !== undefined,
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    // The URLs of the images are valid for ten minutes.
    staleTime: 240_000,
  });
}

function useContent<T>(path: string) {
  const url = useContentUrl();
  return useQuery({
    queryKey: ['content', path, navigator.language],
    queryFn: ({ signal }) => callJson<T>(url + path, { signal, headers: { 'accept-language': navigator.language } }),
    enabled: url !== undefined,
    staleTime: 300_000,
    retry: false,
  }).data;
}

export const useHomeCards = () => useContent<HomeCards>('/op/homecards/v2');
export const useAnnouncement = () => useContent<Announcement>('/op/announcement');
export const useTrending = () => useContent<Trending>('/op/trending');
