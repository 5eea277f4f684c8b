/** Giving feedback on a request, and keeping what was given until the lists are read again. */

import {
  queryOptions,
  skipToken,
  type UseMutationResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { OWN_SOURCE, withFeedback } from "~/domain/feedback";
import type { AcceptedFeedback, NewFeedback, RequestDetail, RequestFeedback, Row } from "~/generated/api-types";
import { apiUrl, sendJson } from "./client";

export type OwnFeedback = Pick<NewFeedback, "score" | "label" | "comment">;

/** The feedback that was given on this page since it was loaded. Rows of the log may have been read before. */
function givenQuery(id: string) {
  return queryOptions<RequestFeedback>({ queryKey: ["given-feedback", id], queryFn: skipToken, gcTime: Infinity });
}

/** The feedback on a row, with that given on this page. */
export function useFeedback({ id, feedback }: Row): readonly RequestFeedback[] {
  return withFeedback(feedback, useQuery(givenQuery(id)).data);
}

/** Give feedback on a request. The open request and its row show it at once. */
export function useGiveFeedback(id: string): UseMutationResult<AcceptedFeedback, Error, OwnFeedback> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (own: OwnFeedback) =>
      sendJson<AcceptedFeedback>("POST", apiUrl(`requests/${encodeURIComponent(id)}/feedback`), {
        ...own,
        source: OWN_SOURCE,
      }),
    onSuccess: ({ feedback }) => {
      client.setQueryData(givenQuery(id).queryKey, feedback);
      // The open request may have another id in the URL.
      client.setQueriesData<RequestDetail>(
        { queryKey: ["request"], predicate: ({ state }) => (state.data as RequestDetail | undefined)?.id === id },
        (request) => request && { ...request, feedback: [...withFeedback(request.feedback, feedback)] },
      );
      return client.invalidateQueries({ queryKey: ["status"] });
    },
  });
}
